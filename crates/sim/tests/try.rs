use driftlock_protocol::*;
use driftlock_sim::soak::*;
#[test]
fn try_it() {
    for tag in ["krl", "krlf", "krlf-adaptive", "rl"] {
        let algorithm = Algorithm::named(tag).unwrap();
        let mut bad = 0; let mut vac = 0; let mut notrest = 0; let mut msgs = 0;
        for seed in 0..2000 {
            let case = Case::draw(seed, Crowd::Usual, algorithm);
            let r = case.run(algorithm, Repairs::ALL, None).unwrap();
            if r.entries_under_faults == 0 { vac += 1; }
            if !r.rested { notrest += 1; }
            msgs += r.messages;
            if let Some(v) = &r.violation { bad += 1; if bad < 4 { println!("{tag} seed {seed}: {v} n={} k={}", case.deployment().nodes, case.deployment().k); } }
        }
        println!("{tag}: bad {bad} vacuous {vac} notrest {notrest} msgs {msgs}");
    }
}
