// test errors
//! What looks like a sum on every way through an iteration, and is looked at, set or changed otherwise on one of them.

#[device]
fn mark(y: &mut Global<u32>, i: usize) -> bool {
    y[i] = 1;
    i % 2 == 0
}

#[kernel(block = 64)]
pub fn refused_ilp_exits(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let mut asked = 0;
    #[ilp(2)]
    for k in 0..n {
        let mut j = 0;
        while j < asked {
            asked += x[k];
            j += 1;
        }
    }
    let mut enough = 0;
    #[ilp(2)]
    for k in 0..n {
        for j in 0..9 {
            enough += x[k + j];
            if enough > 100 {
                break;
            }
        }
    }
    let mut reset = 0;
    #[ilp(2)]
    for k in 0..n {
        for j in 0..9 {
            if x[k + j] == 3 {
                reset = 0;
                break;
            }
            reset += 2;
        }
    }
    let mut doubled = 0;
    #[ilp(2)]
    for k in 0..n {
        loop {
            doubled += 1;
            if x[k] == 3 {
                break;
            }
            doubled *= 2;
        }
    }
    let (mut seen, mut of) = (0, 0);
    #[ilp(2)]
    for k in 0..n {
        loop {
            seen += 1;
            if x[k] == 3 {
                of = seen;
                break;
            }
        }
    }
    let mut turned = 0;
    #[ilp(2)]
    for k in 0..n {
        turned = loop {
            if x[k] == 3 {
                break turned + 1;
            }
            break x[k] - turned;
        };
    }
    let mut marked = 0;
    #[ilp(2)]
    for k in 0..n {
        if x[k] > marked && mark(y, k) {
            marked = x[k];
        }
    }
    let (mut top, mut count) = (0, 0);
    #[ilp(2)]
    for k in 0..n {
        if x[k] > top && {
            count += 1;
            count % 2 == 0
        } {
            top = x[k];
        }
    }
    let mut either = 0;
    #[ilp(2)]
    for k in 0..n {
        if x[k] > either || x[k] % 2 == 0 {
            either = x[k];
        }
    }
    y[0] = asked + enough + reset + doubled + seen + of + turned + marked + top + count + either;
}
