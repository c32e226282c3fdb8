use driftlock_protocol::{Algorithm, Repairs};
use driftlock_sim::soak::{Case, Crowd};
#[test]
fn scratch() {
    let seed: u64 = std::env::var("SEED").unwrap().parse().unwrap();
    let runs: u64 = std::env::var("RUNS").map_or(1, |r| r.parse().unwrap());
    let algorithm = Algorithm::named("klme-ft").unwrap();
    let mut bad = Vec::new();
    let mut starved = 0;
    let (mut crashed, mut lost, mut revoked, mut led) = (0u64, 0u64, 0u64, 0u64);
    let (mut total, mut faulty, mut changes, mut rested) = (0u64, 0u64, 0u64, 0u64);
    for seed in seed..seed + runs {
        let case = Case::draw(seed, Crowd::Usual, algorithm);
        let writer = (runs <= 400).then(|| {
            driftlock_trace::Writer::create(std::path::Path::new("/tmp/v.jsonl"), &case.trace_header(algorithm, vec![]))
                .unwrap()
        });
        let usual = driftlock_protocol::klme_ft::Variant::USUAL;
        let div: u32 = std::env::var("DIV").map_or(1, |r| r.parse().unwrap());
        let times = driftlock_protocol::tenure::Times {
            beat: usual.times.beat / div,
            lease: usual.times.lease / div,
            margin: usual.times.margin / div,
            ..usual.times
        };
        let variant = driftlock_protocol::klme_ft::Variant { times, ..usual };
        let report = case.run_with::<driftlock_protocol::klme_ft::KlmeFt>(variant, Repairs::ALL, writer).unwrap();
        total += report.entries_after;
        faulty += report.entries_under_faults;
        changes += report.changes;
        rested += u64::from(report.rested);
        if runs <= 400 {
            let t = std::fs::read_to_string("/tmp/v.jsonl").unwrap();
            crashed += u64::from(t.contains("\"crashed\""));
            lost += u64::from(t.contains("\"lost\""));
            revoked += u64::from(t.contains("\"revoke\""));
            led += u64::from(t.contains("\"vote\""));
        }
        if let Some(v) = report.violation {
            if v.to_string().contains("served") {
                starved += 1;
                continue;
            }
            bad.push((seed, v.to_string()));
        }
    }
    println!(
        "bad: {total} entries, {faulty} under faults, {changes} changes, {rested} rested, {crashed} crashed {lost} lost {revoked} revoked {led} led, {starved} starved"
    );
    println!("{} bad of {runs}: {:?}", bad.len(), &bad[..bad.len().min(12)]);
}
