use driftlock_protocol::{Algorithm, Repairs};
use driftlock_sim::soak::{Case, Crowd};
use driftlock_trace::Writer;
#[test]
fn one() {
    let tag = std::env::var("TAG").unwrap();
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let algorithm = Algorithm::named(&tag).unwrap();
    let case = Case::draw(seed, Crowd::Afield, algorithm);
    let writer = Writer::create(std::path::Path::new("/tmp/v.jsonl"), &case.trace_header(algorithm, vec![])).unwrap();
    let report = case.run(algorithm, Repairs::ALL, Some(writer)).unwrap();
    println!("{report:?}");
}
