//! Control flow meant to break the making of SSA: exits from loops, blocks and functions.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(exits_of_many_levels, always_breaking, returns_in_arms, chained_exits, early_exit_stores, nested_early_calls, break_values_nested,);

#[kernel(block = 32)]
fn many_levels(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut a = 0u32;
    let mut b = 100u32;
    let mut trace = 0u32;
    let r = 'top: loop {
        a += 1;
        'mid: while a < 50 {
            let mut c = a;
            'low: for k in 0..8u32 {
                c += k;
                match (c + n) % 9 {
                    0 => {
                        b -= 1;
                        continue 'low;
                    }
                    1 => {
                        a += 3;
                        continue 'mid;
                    }
                    2 if k > 2 => {
                        trace += c;
                        break 'mid;
                    }
                    3 if a > 20 => break 'top c + b,
                    4 => {
                        b += c;
                        if b > 3000 {
                            break 'top b;
                        }
                    }
                    5 => break 'low,
                    6 => {
                        if n == 13 {
                            y[i] = 13;
                            return;
                        }
                    }
                    _ => trace ^= k,
                }
                b += 2;
            }
            a += 1;
            trace = trace * 3 + c;
        }
        if a >= 50 {
            break a;
        }
        b += 1;
    };
    y[i] = r ^ trace << 3 ^ a << 11 ^ b << 17;
}

fn exits_of_many_levels(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(many_levels, &small(96), 1).map(drop)
}

#[kernel(block = 32)]
fn breaking(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut v = 0;
    loop {
        v += n;
        break;
    }
    for k in 3..n {
        v += k;
        break;
    }
    while v < 100 {
        v += 50;
        if n > 3 {
            break;
        } else {
            break;
        }
    }
    let w = loop {
        if n == 2 {
            break 5;
        }
        loop {
            v += 1;
            break;
        }
        break match n {
            3 => 6,
            _ => {
                v += 3;
                7
            }
        };
    };
    'a: loop {
        loop {
            v += 9;
            break 'a;
        }
    }
    for _ in 0..n {
        v += 2;
        continue;
    }
    'b: for k in 0..n {
        loop {
            v ^= k;
            continue 'b;
        }
    }
    y[i] = v * 10 + w;
}

fn always_breaking(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(breaking, &small(64), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Reader {
    at: usize,
    value: u32,
    errors: u8,
}

#[device]
impl Reader {
    fn digit(&mut self, x: &Global<u32>) -> bool {
        let word = match x[self.at % x.len()] {
            0 => {
                self.errors += 1;
                return false;
            }
            d @ 1..=9 => d,
            10 => {
                self.at += 1;
                return match self.errors {
                    0 => true,
                    e if e < 3 => {
                        self.errors = 0;
                        false
                    }
                    _ => return false,
                };
            }
            _ => {
                self.at += 2;
                if self.value > 500 {
                    self.value = 0;
                    return true;
                }
                5
            }
        };
        self.value = self.value * 10 + word;
        self.at += 1;
        true
    }

    fn number(&mut self, x: &Global<u32>) -> u32 {
        while self.digit(x) {
            if self.value > 1000 {
                return self.value;
            }
        }
        let v = self.value;
        self.value = 1;
        self.at += 1;
        v
    }
}

#[kernel(block = 32)]
fn reading(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut reader = Reader { at: i, value: 0, errors: 0 };
    let mut sum = 0u32;
    for _ in 0..5 {
        sum = sum * 31 + reader.number(x);
    }
    y[i] = sum + reader.at as u32 + reader.errors as u32;
}

fn returns_in_arms(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(reading, &small(64), 1).map(drop)
}

#[device]
fn first_of(x: &Global<u32>, n: u32) -> u32 {
    for a in 0..x.len() {
        if x[a] > n {
            for b in (0..a).rev() {
                if x[b] + n < x[a] {
                    return (a * 100 + b) as u32;
                }
                if b + 5 < a {
                    break;
                }
            }
            if a % 7 == 3 {
                return a as u32;
            }
        } else if x[a] == n {
            continue;
        } else {
            loop {
                if a > 20 {
                    return 12345;
                }
                break;
            }
        }
    }
    9999
}

#[kernel(block = 32)]
fn exits(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut v = first_of(x, x[i]);
    if v > 5000 {
        v = first_of(x, v % 10) + first_of(x, 15);
        if v > 15000 {
            y[i] = v;
            return;
        }
    }
    y[i] = v + first_of(x, first_of(x, 3) % 16);
}

fn chained_exits(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(exits, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn stores(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    y[i] = 1;
    y[i] = 2;
    if n == 3 {
        return;
    }
    y[i] = 3;
    let v = y[i];
    y[i] = v + 10;
    for k in 0..n {
        y[i] = k;
        if k == 5 {
            break;
        }
        y[i] += 100;
        if k == 4 && n == 9 {
            return;
        }
    }
    y[i] = y[i] * 2;
}

fn early_exit_stores(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(stores, &small(64), 1).map(drop)
}

#[device]
fn half(n: u32) -> u32 {
    if n % 2 == 0 {
        return n / 2;
    }
    n
}

#[device]
fn twice_half(n: u32) -> u32 {
    let h = half(n);
    if h == n {
        return half(h + 1);
    }
    return half(h);
}

#[kernel(block = 32)]
fn early_calls(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i];
    let mut s = 0;
    while half(twice_half(n)) > 1 && s < 20 {
        n = twice_half(half(n)) + half(s);
        s += half(n + 1) + [half(s), twice_half(s)][(n % 2) as usize] + 1;
    }
    y[i] = if half(s) > twice_half(n) { half(n) } else { return } + s;
}

fn nested_early_calls(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(early_calls, &words(64), 1).map(drop)
}

#[kernel(block = 32)]
fn break_values(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let v = loop {
        let t = 'b: {
            if n > 10 {
                let w = 'd: loop {
                    if n % 2 == 0 {
                        break 'd 1;
                    }
                    break 'b (2, n);
                };
                break 'b (w, 9);
            }
            let inner = loop {
                if n < 3 {
                    break 'b (3, 4);
                }
                break n + 1;
            };
            (inner, 5)
        };
        break t.0 * 10 + t.1;
    };
    let w = if n > 4 {
        'c: loop {
            if n == 7 { break 'c 70 } else { break 80 }
        }
    } else {
        v
    };
    y[i] = v * 1000 + w;
}

fn break_values_nested(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(break_values, &small(64), 1).map(drop)
}
