use driftlock_protocol::{Algorithm, Repairs};
use driftlock_sim::soak::{Case, Crowd};
#[test]
fn scratch() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let runs: u64 = std::env::var("RUNS").map_or(1, |r| r.parse().unwrap());
    let algorithm = Algorithm::named("klme-ft").unwrap();
    let mut bad = Vec::new();
    for seed in seed..seed + runs {
        let case = Case::draw(seed, Crowd::Usual, algorithm);
        let writer = (runs == 1).then(|| {
            driftlock_trace::Writer::create(std::path::Path::new("/tmp/v.jsonl"), &case.trace_header(algorithm, vec![]))
                .unwrap()
        });
        let report = case.run(algorithm, Repairs::ALL, writer).unwrap();
        if let Some(v) = report.violation {
            bad.push((seed, v.to_string()));
        }
    }
    println!("{} bad of {runs}: {:?}", bad.len(), &bad[..bad.len().min(12)]);
}
