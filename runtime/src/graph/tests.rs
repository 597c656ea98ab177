//! What a step of a graph waits for, and what it need not say.

use super::drop_implied;

/// All that a step waits for, by way of others too.
fn all_before(after: &[usize], before: &[Vec<usize>]) -> Vec<bool> {
    let mut found = vec![false; before.len()];
    let mut to_see = after.to_vec();
    while let Some(step) = to_see.pop() {
        if !std::mem::replace(&mut found[step], true) {
            to_see.extend(&before[step]);
        }
    }
    found
}

fn reduced(after: &[usize], before: &[Vec<usize>]) -> Vec<usize> {
    let mut kept = after.to_vec();
    drop_implied(&mut kept, before);
    kept
}

#[test]
fn to_and_fro_each_step_waits_for_the_one_before() {
    // Step 1 waits for step 0, step 2 for both by what it reads and writes.
    let before = [vec![], vec![0], vec![1], vec![2]];
    assert_eq!(reduced(&[2, 1, 2], &before), [2]);
    assert_eq!(reduced(&[0, 3], &before), [3]);
    assert_eq!(reduced(&[], &before), []);
    // A diamond keeps both of its sides.
    assert_eq!(reduced(&[2, 1, 0], &[vec![], vec![0], vec![0]]), [1, 2]);
}

#[test]
fn as_much_is_waited_for_by_no_more_than_is_needed() {
    let mut random = 0x9e37_79b9_u32;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random as usize % below
    };
    for _ in 0..200 {
        let mut before: Vec<Vec<usize>> = Vec::new();
        for step in 0..40 {
            let count = if step == 0 { 0 } else { next(5) };
            let after: Vec<usize> = (0..count).map(|_| next(step)).collect();
            let kept = reduced(&after, &before);
            assert_eq!(all_before(&kept, &before), all_before(&after, &before), "{after:?} of {before:?}");
            for n in 0..kept.len() {
                let mut others = kept.clone();
                let left_out = others.remove(n);
                assert!(!all_before(&others, &before)[left_out], "{left_out} is implied: {kept:?} of {before:?}");
            }
            before.push(kept);
        }
    }
}
