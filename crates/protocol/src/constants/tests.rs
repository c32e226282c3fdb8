use alloc::string::ToString;

use super::*;
use crate::{ALGORITHMS, Algorithm};

fn set(tag: &str, constants: &[(&str, f64)]) -> Result<(), String> {
    let constants = &constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let terms = Terms { small_scale: false, over_radios: false, constants };
    Algorithm::named(tag).expect("registered").check(terms).map_err(|wrong| wrong.to_string())
}

fn refusal(tag: &str, constants: &[(&str, f64)]) -> String {
    set(tag, constants).expect_err("it makes no sense")
}

#[test]
fn every_algorithm_takes_the_constants_that_it_has() {
    for algorithm in ALGORITHMS {
        for (name, usual, says) in algorithm.constants() {
            let usual: f64 = usual.trim_end_matches(" s").parse().expect("a number");
            assert_eq!(set(algorithm.tag, &[(name, usual)]), Ok(()), "{} {name}", algorithm.tag);
            assert!(set(algorithm.tag, &[(name, -1.0)]).is_err() && !says.is_empty(), "{} {name}", algorithm.tag);
            assert!([f64::NAN, f64::INFINITY].iter().all(|&no| set(algorithm.tag, &[(name, no)]).is_err()), "{name}");
        }
    }
}

#[test]
fn what_does_not_exist_is_told_from_what_does() {
    assert_eq!(refusal("klme", &[("beat", 1.0)]), "the algorithm has no constant \"beat\": it has none");
    assert_eq!(refusal("krl", &[("rest", 1.0)]), "the algorithm has no constant \"rest\": it has reversals, pause");
    assert_eq!(set("krlf", &[("rest", 0.0)]), Ok(()));
    assert_eq!(set("hok-fewest", &[("unit", 3.0)]), Ok(()));
    assert!(refusal("hok", &[("unit", 3.0)]).contains("no constant \"unit\""));
}

#[test]
fn a_value_is_a_time_or_a_whole_number_within_bounds() {
    assert_eq!(refusal("krl", &[("pause", 0.0)]), "pause = 0: it must be a time of 0.001 to 1000000 seconds");
    assert_eq!(refusal("krl", &[("reversals", 1.5)]), "reversals = 1.5: it must be a whole number from 1 to 10000");
    assert_eq!(refusal("klme-ft", &[("copies", 0.0)]), "copies = 0: it must be a whole number from 1 to 9");
    assert_eq!(set("klme-ft", &[("margin", 0.0), ("drift", 0.0)]), Ok(()));
}

#[test]
fn constants_that_do_not_fit_together_are_refused() {
    assert!(
        refusal("klme-ft", &[("lease", 9.0)])
            .starts_with("a lease of 9 s would be over before the next beat, after 10 s")
    );
    assert!(refusal("klme-ft", &[("lease", 10.0)]).contains("would be over before"));
    assert_eq!(set("klme-ft", &[("lease", 9.0), ("beat", 3.0)]), Ok(()));
    assert!(refusal("klme-ft", &[("beat", 0.001), ("lease", 20.0)]).contains("more than 10000 beats"));
    assert!(refusal("klme-ft", &[("farewell", 9.0)]).starts_with("a farewell of 9 s is over before the next beat"));
}

#[test]
fn what_users_set_counts_before_the_scale_and_the_radios() {
    use crate::krl::{self, Forwarding, Krl};
    let usual = krl::Variant::new(Forwarding::Always);
    let terms = |small_scale, constants| Terms { small_scale, over_radios: true, constants };
    let none = Constants::new();
    let small = terms(true, &none).variant::<Krl>(usual).expect("usual");
    assert_eq!((small.limits.patience, small.rest), (1, Duration::from_millis(250)));
    let own = [("reversals".to_owned(), 4.0), ("rest".to_owned(), 0.0)].into();
    let set = terms(true, &own).variant::<Krl>(usual).expect("it makes sense");
    assert_eq!((set.limits.patience, set.rest), (4, Duration::ZERO));
    assert_eq!(terms(false, &none).variant::<Krl>(usual).expect("usual").limits, usual.limits);
}
