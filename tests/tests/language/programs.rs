//! Small programs whose control flow depends on data: machines, stacks, sorting.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(self_by_reference, deep, state_machine, sorting, stack, matrix_power, pointer_chasing, buffers_through_functions,);

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Machine {
    state: u32,
    stack: [u32; 4],
    depth: usize,
    failed: bool,
}

#[device]
impl Machine {
    const START: u32 = 0xACE1;

    fn new(seed: u32) -> Machine {
        Machine { state: seed ^ Self::START, stack: [0; 4], depth: 0, failed: false }
    }

    fn random(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state
    }

    fn push(&mut self, v: u32) -> bool {
        if self.depth == 4 {
            self.failed = true;
            return false;
        }
        self.stack[self.depth] = v;
        self.depth += 1;
        true
    }

    fn pop(&mut self) -> u32 {
        if self.depth == 0 {
            self.failed = true;
            return 77;
        }
        self.depth -= 1;
        self.stack[self.depth]
    }

    fn step(&mut self, limit: u32) -> u32 {
        let op = self.random() % 6;
        match op {
            0 | 1 => {
                let v = self.random() % limit;
                if !self.push(v) {
                    return 1000;
                }
            }
            2 => {
                let (a, b) = (self.pop(), self.pop());
                if self.failed {
                    self.failed = false;
                    return a + b;
                }
                self.push(a + b);
            }
            3 => {
                for k in 0..limit {
                    if k * k > self.state % 100 {
                        return k;
                    }
                    if self.random() % 8 == 0 {
                        self.stack[k as usize % 4] ^= 1;
                        return self.pop();
                    }
                }
            }
            4 => return self.stack[1],
            _ => self.stack[(limit % 4) as usize] += 1,
        }
        op
    }
}

#[kernel(block = 32)]
fn machines(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut m = Machine::new(x[i]);
    let mut other = m;
    let mut sum = 0;
    for k in 0..20 {
        sum = sum * 3 + m.step(k + 1);
        if m.depth > 2 {
            other = m;
            other.push(k);
        }
        if k == x[i] {
            m = other;
        }
    }
    sum += other.pop() + other.stack[3] + m.stack[0] * 5;
    y[i] = sum ^ m.state ^ (other.depth as u32) << 4;
}

fn self_by_reference(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(machines, &words(96), 1).map(drop)
}

#[kernel(block = 32)]
fn deeply(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut v = n;
    for a in 0..2u32 {
        if a < n {
            for b in 0..2u32 {
                while v % 5 != 0 {
                    v += 1;
                    if v % 3 == b {
                        match v % 4 {
                            0 => {
                                for c in 0..3 {
                                    if c == n % 3 {
                                        loop {
                                            v += 11;
                                            if v % 2 == 1 {
                                                if v > 60 {
                                                    break;
                                                }
                                                v += {
                                                    let mut t = a;
                                                    for d in 0..2 {
                                                        t += if d == b { v % 3 } else { 2 };
                                                    }
                                                    t
                                                };
                                            } else {
                                                v += 2;
                                                if v > 40 {
                                                    break;
                                                }
                                            }
                                        }
                                    } else {
                                        v ^= c;
                                    }
                                }
                            }
                            1 => v += 3,
                            _ => {}
                        }
                    }
                    if v > 90 {
                        break;
                    }
                }
                v += 2;
            }
        }
    }
    y[i] = v;
}

fn deep(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(deeply, &small(64), 1).map(drop)
}

#[device]
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum State {
    Start,
    Word,
    Number,
    End,
}

#[kernel(block = 32)]
fn automaton(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut state = State::Start;
    let mut at = i;
    let mut counts = [0u32; 4];
    while state != State::End {
        let c = x[at % x.len()];
        at += 1;
        state = match (state, c) {
            (State::Start, 0..=5) => State::Word,
            (State::Start, _) => State::Number,
            (State::Word, 6..=11) => State::Number,
            (State::Word, 12..) => {
                counts[3] += c;
                State::Start
            }
            (State::Number, 3 | 4) => State::End,
            (s, _) => s,
        };
        counts[state as usize] += 1;
        if at > i + 50 {
            break;
        }
    }
    y[i] = counts[0] ^ counts[1] << 8 ^ counts[2] << 16 ^ counts[3] << 24 ^ state as u32;
}

fn state_machine(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(automaton, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn sort(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut a = [0u32; 8];
    for k in 0..8 {
        a[k] = x[(i * 3 + k * k) % x.len()];
    }
    for k in 1..8 {
        let v = a[k];
        let mut j = k;
        while j > 0 && a[j - 1] > v {
            a[j] = a[j - 1];
            j -= 1;
        }
        a[j] = v;
    }
    for k in 0..8 {
        y[i * 8 + k] = a[k];
    }
}

fn sorting(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(64);
    let found = b.map(sort, &xs, 8)?;
    let expected = (0..64).flat_map(|i| {
        let mut a: Vec<u32> = (0..8).map(|k| xs[(i * 3 + k * k) % 64]).collect();
        a.sort_unstable();
        a
    });
    b.expect("sorted", &found, expected);
    Ok(())
}

#[kernel(block = 32)]
fn traverse(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut stack = [0usize; 16];
    let mut top = 1;
    stack[0] = 1 + i % 4;
    let mut sum = 0;
    while top > 0 {
        top -= 1;
        let node = stack[top];
        sum = sum * 3 + x[node];
        if node * 2 + 1 < x.len() && top < 14 {
            if x[node] % 3 != 0 {
                stack[top] = node * 2;
                top += 1;
            }
            if x[node] % 5 != 1 {
                stack[top] = node * 2 + 1;
                top += 1;
            }
        }
    }
    y[i] = sum;
}

fn stack(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(traverse, &words(64), 1).map(drop)
}

#[device]
fn multiply(a: [[u32; 2]; 2], b: [[u32; 2]; 2]) -> [[u32; 2]; 2] {
    let mut c = [[0; 2]; 2];
    for i in 0..2 {
        for j in 0..2 {
            for k in 0..2 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

#[kernel(block = 32)]
fn fibonacci(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i];
    let mut result = [[1, 0], [0, 1]];
    let mut base = [[1, 1], [1, 0]];
    while n > 0 {
        if n & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        n >>= 1;
    }
    y[i] = result[0][1];
}

fn matrix_power(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u32> = (0..64).collect();
    let found = b.map(fibonacci, &xs, 1)?;
    let expected = xs.iter().map(|&n| (0..n).fold((0u32, 1u32), |(a, c), _| (c, a.wrapping_add(c))).0);
    b.expect("fibonacci", &found, expected);
    Ok(())
}

#[kernel(block = 32)]
fn chase(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut tortoise = i;
    let mut hare = i;
    let n = x.len();
    let mut steps = 0;
    loop {
        tortoise = x[tortoise] as usize % n;
        hare = x[x[hare] as usize % n] as usize % n;
        steps += 1;
        if tortoise == hare {
            break;
        }
    }
    let mut length = 1;
    hare = x[tortoise] as usize % n;
    while tortoise != hare {
        hare = x[hare] as usize % n;
        length += 1;
    }
    y[i] = steps * 1000 + length;
}

fn pointer_chasing(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(chase, &words(64), 1).map(drop)
}

#[device]
fn put(y: &mut Global<u32>, at: usize, v: u32) -> u32 {
    if at >= y.len() {
        return 1;
    }
    y[at] = v;
    0
}

#[device]
fn put_twice(y: &mut Global<u32>, at: usize, v: u32) -> u32 {
    put(y, at, v) + put(y, at + y.len() / 2, v * 2)
}

#[device]
fn total(line: &[u32; 32], grid: &mut [[u32; 2]; 32], t: usize) -> u32 {
    let mut s = 0;
    for k in 0..line.len() {
        s += line[k];
    }
    grid[t][0] = s;
    grid[t][1] += grid[t][0] * 2;
    s + grid.len() as u32
}

#[kernel(block = 32)]
fn through(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut line: [u32; 32];
    #[shared]
    let mut grid: [[u32; 2]; 32];
    let i = global_id().x;
    let t = thread_idx().x;
    line[t] = x[i];
    grid[t] = [0, 1];
    sync_threads();
    let s = total(&line, &mut grid, t);
    let e = put_twice(y, i, s + grid[t][1]);
    if e > 0 {
        put(y, 0, 5);
    }
}

fn buffers_through_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = words(32);
    b.map(through, &xs, 2).map(drop)
}
