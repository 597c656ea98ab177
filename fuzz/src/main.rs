use std::collections::BTreeMap;
use std::path::Path;
use warpwright_fuzz::executions::{compiled, simulator, twin};
use warpwright_fuzz::random::{Random, quietly};
use warpwright_fuzz::source::{self, Form};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (a, b): (u64, u64) = (args[1].parse().unwrap(), args[2].parse().unwrap());
    let mut reasons: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let t = std::time::Instant::now();
    let mut good = Vec::new();
    for seed in a..b {
        let k = source::kernel(&mut Random::new(seed));
        if b == a + 1 {
            println!("{}", k.file(Form::Annotated));
        }
        let r = quietly(|| {
            let l = compiled::scheduled(&k, Form::Stripped).map_err(|e| format!("REFUSED {}", e))?;
            let e = simulator::run(&k, l.kernel.legal()).map_err(|e| format!("FAULT {e}"))?;
            let l = compiled::scheduled(&k, Form::BestEffort).map_err(|e| format!("BE REFUSED {e}"))?;
            let f = simulator::run(&k, l.kernel.legal()).map_err(|e| format!("BE FAULT {e}"))?;
            if let Some(d) = warpwright_fuzz::executions::difference(&e, &f) {
                return Err(format!("BE DIFF {d}"));
            }
            Ok::<_, String>(e)
        });
        match r {
            Ok(Ok(o)) => good.push((seed, k, o)),
            Ok(Err(e)) => {
                let key: String = e.lines().next().unwrap().chars().take(150).collect();
                reasons.entry(key).or_default().push(seed);
            }
            Err(p) => reasons.entry(format!("PANIC {p}")).or_default().push(seed),
        }
    }
    println!("{} ran in {:?}", good.len(), t.elapsed());
    let t = std::time::Instant::now();
    let tools = twin::Toolchain::of_workspace(Path::new("."), Path::new("/tmp/twins")).unwrap();
    println!("library {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let good: Vec<_> = good.into_iter().filter(|(_, k, _)| !k.is_approximate).collect();
    let ks: Vec<_> = good.iter().map(|(_, k, _)| k).collect();
    match tools.run("batch", &ks, Form::BestEffort, false) {
        Ok(said) => {
            for ((seed, _, o), s) in good.iter().zip(&said) {
                if !s.is(o) {
                    reasons
                        .entry(format!("TWIN {}", if let twin::Said::Fault(f) = s { f.chars().take(150).collect() } else { String::new() }))
                        .or_default()
                        .push(*seed);
                }
            }
        }
        Err(e) => println!("{}", e.chars().take(6000).collect::<String>()),
    }
    println!("twins {:?}", t.elapsed());
    let mut list: Vec<_> = reasons.into_iter().collect();
    list.sort_by_key(|(_, s)| std::cmp::Reverse(s.len()));
    for (r, s) in list {
        println!("{} {:?} {r}", s.len(), &s[..s.len().min(8)]);
    }
}
