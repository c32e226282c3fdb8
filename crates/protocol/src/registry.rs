//! The list of all algorithms. A new one is a file of its own and a line here.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::hok::{self, Hok, Policy};
use crate::ideal::{Ideal, Start};
use crate::klme::Klme;
use crate::klme_ft::{self, KlmeFt};
use crate::krl::{self, Forwarding, Krl};
use crate::{Claims, Protocol, Repair, Repairs, Terms, Urgency, View, WrongConstant};

/// Where an algorithm comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paper {
    /// Who wrote it.
    pub authors: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// When it appeared.
    pub year: u16,
}

/// Which numbers of units an algorithm can manage among n nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitsRule {
    /// 1 <= k < n.
    FewerThanNodes,
    /// Exactly one.
    One,
    /// Any number, one at a time.
    AnyNumber,
    /// Any number, and a request may ask for several at once, up to all of them.
    Several,
}

/// What stands for the units among the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokens {
    /// Each unit has a token of its own.
    Each,
    /// One token stands for all units, and can be somewhere without any.
    One,
    /// Nothing: a unit is in the books of a leader, or of several that do not know yet who leads, and at no node.
    None,
}

/// How an algorithm shares units, for those who show its runs: no page and no report knows an algorithm by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Manner {
    /// What stands for the units.
    pub tokens: Tokens,
    /// The kinds of messages by which a node asks for units, for itself or on behalf of another.
    pub asks: &'static [&'static str],
    /// The kinds of messages that bring what a node must have to be granted units.
    pub brings: &'static [&'static str],
    /// Those of them that hand a token over.
    pub hands_over: &'static [&'static str],
    /// The same in a sentence, for people who have not read the paper.
    pub how: &'static str,
    /// The pages of docs/papers that explain its clauses, the nearest first.
    pub pages: &'static [&'static str],
}

/// An algorithm that can be asked for by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Algorithm {
    /// Its name on the command line.
    pub tag: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is described.
    pub paper: Paper,
    /// How many units it can share.
    pub units: UnitsRule,
    /// How it does that.
    pub manner: Manner,
}

/// What a world does with an algorithm once its type is known.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called with the implementation that the algorithm's tag stands for.
    fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output;
}

impl Algorithm {
    /// The algorithm of this name.
    pub fn named(tag: &str) -> Option<&'static Algorithm> {
        ALGORITHMS.iter().find(|algorithm| algorithm.tag == tag)
    }

    /// From what of a deployment the layer begins that it stands on.
    pub fn starts_from(&self) -> Start {
        struct AskStart;
        impl Visitor for AskStart {
            type Output = Start;
            fn visit<P: Protocol>(self, _variant: P::Variant) -> Start {
                <P::View as View>::Ideal::STARTS_FROM
            }
        }
        self.visit(AskStart)
    }

    /// What it claims to stand.
    pub fn claims(&self) -> Claims {
        struct AskClaims;
        impl Visitor for AskClaims {
            type Output = Claims;
            fn visit<P: Protocol>(self, _variant: P::Variant) -> Claims {
                P::CLAIMS
            }
        }
        self.visit(AskClaims)
    }

    /// What makes a demand urgent to it.
    pub fn urgency(&self) -> Urgency {
        struct AskUrgency;
        impl Visitor for AskUrgency {
            type Output = Urgency;
            fn visit<P: Protocol>(self, variant: P::Variant) -> Urgency {
                P::urgency(variant)
            }
        }
        self.visit(AskUrgency)
    }

    /// The numbers that its users may set: what each is called, what it usually is, and what it says.
    pub fn constants(&self) -> Vec<(&'static str, String, &'static str)> {
        struct ListConstants;
        impl Visitor for ListConstants {
            type Output = Vec<(&'static str, String, &'static str)>;
            fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
                let constants = P::constants(variant);
                constants.iter().map(|constant| (constant.name, constant.shown(variant), constant.says)).collect()
            }
        }
        self.visit(ListConstants)
    }

    /// Whether it can be run on these terms.
    pub fn check(&self, terms: Terms<'_>) -> Result<(), WrongConstant> {
        struct Check<'a>(Terms<'a>);
        impl Visitor for Check<'_> {
            type Output = Result<(), WrongConstant>;
            fn visit<P: Protocol>(self, variant: P::Variant) -> Self::Output {
                self.0.variant::<P>(variant).map(|_| ())
            }
        }
        self.visit(Check(terms))
    }

    /// The rules of an algorithm of our own that tests and searches may switch off.
    pub fn guards(&self) -> &'static [Repair] {
        struct ListGuards;
        impl Visitor for ListGuards {
            type Output = &'static [Repair];
            fn visit<P: Protocol>(self, _variant: P::Variant) -> Self::Output {
                P::GUARDS
            }
        }
        self.visit(ListGuards)
    }

    /// The repairs that can be switched off.
    pub fn repairs(&self) -> &'static [Repair] {
        struct ListRepairs;
        impl Visitor for ListRepairs {
            type Output = &'static [Repair];
            fn visit<P: Protocol>(self, _variant: P::Variant) -> Self::Output {
                P::REPAIRS
            }
        }
        self.visit(ListRepairs)
    }

    /// The repairs in force when those of these names are switched off. Fails with a name that this algorithm does not
    /// have.
    pub fn repairs_without<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Repairs, &'a str> {
        without(self.repairs(), &[], names)
    }

    /// Likewise, where rules of our own may be switched off as well: in searches and tests, never where anything is
    /// granted for real.
    pub fn rules_without<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Repairs, &'a str> {
        without(self.repairs(), self.guards(), names)
    }
}

/// Everything in force but what goes by these names. Fails with the first name that stands for nothing.
fn without<'a>(
    repairs: &[Repair],
    guards: &[Repair],
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Repairs, &'a str> {
    names.into_iter().try_fold(Repairs::ALL, |rules, name| {
        let found = repairs.iter().chain(guards).find(|rule| rule.name == name);
        found.map(|rule| rules.without(*rule)).ok_or(name)
    })
}

/// Makes [`ALGORITHMS`] and [`Algorithm::visit`] from one line per algorithm.
macro_rules! registry {
    ($($tag:literal: $protocol:ty = $variant:expr, $units:expr, $manner:expr, $paper:expr, $summary:literal;)*) => {
        /// All algorithms, in the order in which they are listed to people.
        pub static ALGORITHMS: &[Algorithm] = &[
            $(Algorithm { tag: $tag, summary: $summary, paper: $paper, units: $units, manner: $manner }),*
        ];

        impl Algorithm {
            /// Runs `visitor` with the type behind this algorithm.
            pub fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
                match self.tag {
                    $($tag => visitor.visit::<$protocol>($variant),)*
                    _ => unreachable!("only this file makes algorithms"),
                }
            }
        }
    };
}

const WALTER_CAO_MOHANTY_2001: Paper = Paper {
    authors: "Jennifer E. Walter, Guangtong Cao, Mitrabhanu Mohanty",
    title: "A K-Mutual Exclusion Algorithm for Wireless Ad Hoc Networks",
    year: 2001,
};

const JIANG_2003: Paper = Paper {
    authors: "Jehn-Ruey Jiang",
    title: "A prioritized h-out of-k mutual exclusion algorithm with maximum degree of concurrency for mobile ad hoc \
            networks and distributed systems",
    year: 2003,
};

const KHANNA_SINGH_SWAROOP_2014: Paper = Paper {
    authors: "Ashish Khanna, Awadhesh Kumar Singh, Abhishek Swaroop",
    title: "A Leader-Based k-Local Mutual Exclusion Algorithm Using Token for MANETs",
    year: 2014,
};

const TOKENS: Manner = Manner {
    tokens: Tokens::Each,
    asks: &["request"],
    brings: &["token"],
    hands_over: &["token"],
    how: "Each unit has a token: a node that wants a unit waits until one comes to it, from neighbour to neighbour.",
    pages: &["krl"],
};

const TOKEN_OF_ALL: Manner = Manner {
    tokens: Tokens::One,
    asks: &["request"],
    brings: &["token"],
    hands_over: &["token"],
    how: "One token goes from neighbour to neighbour and carries the units that are free: a node that wants a unit \
          waits until it comes.",
    pages: &["hok"],
};

const LENT: Manner = Manner {
    tokens: Tokens::One,
    asks: &["req_cs"],
    brings: &["token", "per_grant"],
    hands_over: &["token"],
    how: "One node leads and lends the units: a node that wants one asks it, over others if it is far away.",
    pages: &["klme"],
};

const LENT_ON_LEASE: Manner =
    Manner { tokens: Tokens::None, asks: &["claim"], brings: &["token", "grant"], pages: &["klme-ft", "klme"], ..LENT };

/// How many grants of waiting a unit less is worth to `hok-fewest`.
const UNIT: u16 = 16;

registry! {
    "krl": Krl = krl::Variant::new(Forwarding::Off), UnitsRule::FewerThanNodes, TOKENS, WALTER_CAO_MOHANTY_2001,
        "k tokens on a link-reversal DAG; an idle token rests where it was last used";
    "krlf": Krl = krl::Variant::new(Forwarding::Always), UnitsRule::FewerThanNodes, TOKENS, WALTER_CAO_MOHANTY_2001,
        "krl with token forwarding: an idle token travels on until somebody wants it";
    "krlf-adaptive": Krl = krl::Variant::new(Forwarding::Adaptive), UnitsRule::FewerThanNodes, TOKENS, WALTER_CAO_MOHANTY_2001,
        "krlf that forwards an idle token only as far as the load a node perceives warrants";
    "rl": Krl = krl::Variant::new(Forwarding::Off), UnitsRule::One, TOKENS, WALTER_CAO_MOHANTY_2001,
        "krl with a single token (k = 1): the RL algorithm that krl generalises";
    "hok": Hok = hok::Variant::new(Policy::Priority), UnitsRule::Several, TOKEN_OF_ALL, JIANG_2003,
        "several units at once from one token: the highest priority first, and waiting makes urgent";
    "hok-strict": Hok = hok::Variant::new(Policy::Strict), UnitsRule::Several, TOKEN_OF_ALL, JIANG_2003,
        "hok without aging: the highest priority always goes first, the lowest may wait for ever";
    "hok-fewest": Hok = hok::Variant::new(Policy::FewestUnits { unit: UNIT }), UnitsRule::Several, TOKEN_OF_ALL, JIANG_2003,
        "hok that serves the fewest units first: who wants little waits little";
    "hok-edf": Hok = hok::Variant::new(Policy::EarliestDeadline), UnitsRule::Several, TOKEN_OF_ALL, JIANG_2003,
        "hok that serves the earliest deadline first";
    "hok-fcfs": Hok = hok::Variant::new(Policy::FirstCome), UnitsRule::Several, TOKEN_OF_ALL, JIANG_2003,
        "the first-come baseline of hok: a large request holds up whoever came later";
    "klme": Klme = (), UnitsRule::AnyNumber, LENT, KHANNA_SINGH_SWAROOP_2014,
        "k units in every neighbourhood: the leader carries the token, and nodes come and go";
    "klme-ft": KlmeFt = klme_ft::Variant::USUAL, UnitsRule::AnyNumber, LENT_ON_LEASE, KHANNA_SINGH_SWAROOP_2014,
        "klme that survives crashes and lost messages: leases, and copies of the token at three members";
}

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::vec;

    use super::*;
    use crate::{Deployment, Harm, NodeId};

    /// What is ours alone has rules of its own and nothing to repair. A paper's text may need no repair either.
    fn fit_together(repairs: &[Repair], guards: &[Repair]) -> bool {
        repairs.is_empty() || guards.is_empty()
    }

    #[test]
    fn an_algorithm_of_a_paper_may_have_repairs_or_none_and_ours_has_none() {
        let (repairs, guards) =
            (Algorithm::named("krl").unwrap().repairs(), Algorithm::named("klme-ft").unwrap().guards());
        assert!(fit_together(&[], &[]) && fit_together(repairs, &[]) && fit_together(&[], guards));
        assert!(!fit_together(repairs, guards));
    }

    #[test]
    fn every_tag_is_listed_once_and_leads_to_an_implementation() {
        for (at, algorithm) in ALGORITHMS.iter().enumerate() {
            assert!(ALGORITHMS[at + 1..].iter().all(|other| other.tag != algorithm.tag));
            assert_eq!(Algorithm::named(algorithm.tag), Some(algorithm));
            assert!(fit_together(algorithm.repairs(), algorithm.guards()), "{}", algorithm.tag);
        }
        assert_eq!(Algorithm::named("no such algorithm"), None);
    }

    /// What its nodes and messages are like at the start, beside what is told of it.
    struct Compare(Manner);

    impl Visitor for Compare {
        type Output = ();
        fn visit<P: Protocol>(self, variant: P::Variant) {
            let Self(Manner { tokens, asks, brings, hands_over, .. }) = self;
            assert!(hands_over.iter().all(|kind| brings.contains(kind)));
            assert!(asks.iter().chain(brings).all(|kind| P::KINDS.contains(kind)), "{asks:?} {brings:?}");
            assert!(!asks.is_empty() && !brings.is_empty());
            let has_members = <P::View as View>::Ideal::STARTS_FROM == Start::Members;
            let members = if has_members { [0, 1, 2, 3].map(NodeId).to_vec() } else { vec![] };
            let deployment = Deployment { nodes: 4, k: 3, members, ..Deployment::default() };
            let nodes = P::deploy(&deployment, variant, Repairs::ALL);
            let holders = nodes.iter().filter(|node| node.has_token()).count();
            let units: usize = nodes.iter().map(|node| node.held().iter().count()).sum();
            let found = match (units, holders) {
                (3, 3) => Tokens::Each,
                (3, 1) => Tokens::One,
                (units, _) => [Tokens::None][units],
            };
            assert_eq!(found, tokens);
        }
    }

    #[test]
    fn what_is_told_of_an_algorithm_is_so() {
        for algorithm in ALGORITHMS {
            algorithm.visit(Compare(algorithm.manner));
            assert!(algorithm.manner.how.contains("unit") && algorithm.manner.how.ends_with('.'));
            for page in algorithm.manner.pages {
                let path = std::format!("{}/../../docs/papers/{page}.md", env!("CARGO_MANIFEST_DIR"));
                assert!(std::fs::exists(&path).unwrap(), "{path}");
            }
        }
    }

    /// How many bytes of what a node stores there are at least: none if it stores nothing.
    struct AskStored;

    impl Visitor for AskStored {
        type Output = usize;
        fn visit<P: Protocol>(self, _variant: P::Variant) -> usize {
            size_of::<P::Durable>()
        }
    }

    #[test]
    fn an_algorithm_that_claims_to_stand_restarts_stores_something_and_no_other_does() {
        for algorithm in ALGORITHMS {
            let is_stored = algorithm.visit(AskStored) > 0;
            assert_eq!(algorithm.claims().stand(Harm::Restart), is_stored, "{}", algorithm.tag);
        }
    }

    #[test]
    fn what_the_algorithms_of_each_paper_claim_to_stand() {
        const ALL: [Harm; 5] = [Harm::Crash, Harm::Loss, Harm::Overtaking, Harm::Restart, Harm::DiskLoss];
        let stood = |tag| {
            let claims = Algorithm::named(tag).unwrap().claims();
            ALL.into_iter().filter(|harm| claims.stand(*harm)).collect::<Vec<_>>()
        };
        assert_eq!([stood("krl"), stood("hok")], [[Harm::Restart], [Harm::Restart]]);
        assert_eq!((stood("klme"), stood("klme-ft")), (vec![], ALL.to_vec()));
    }

    #[test]
    fn repairs_are_switched_off_by_name() {
        let krl = Algorithm::named("krl").unwrap();
        assert_eq!(krl.repairs_without([]), Ok(Repairs::ALL));
        let without = krl.repairs_without(["reclaim", "pace"]).unwrap();
        let off: Vec<_> = krl.repairs().iter().filter(|r| !without.has(**r)).map(|r| r.name).collect();
        assert_eq!(off, ["reclaim", "pace"]);
        assert_eq!(krl.repairs_without(["pace", "glue"]), Err("glue"));
    }

    #[test]
    fn rules_of_our_own_are_switched_off_in_searches_only() {
        let ours = Algorithm::named("klme-ft").unwrap();
        assert!(ours.repairs().is_empty() && !ours.guards().is_empty() && ours.claims().stand(Harm::Crash));
        for guard in ours.guards() {
            assert_eq!(ours.repairs_without([guard.name]), Err(guard.name));
            assert_eq!(ours.rules_without([guard.name]), Ok(Repairs::ALL.without(*guard)));
        }
        let krl = Algorithm::named("krl").unwrap();
        assert_eq!(krl.rules_without(["pace"]), krl.repairs_without(["pace"]));
    }

    #[test]
    fn every_rule_has_a_name_and_a_bit_of_its_own() {
        for algorithm in ALGORITHMS {
            let rules: Vec<_> = algorithm.repairs().iter().chain(algorithm.guards()).collect();
            for (at, rule) in rules.iter().enumerate() {
                for other in &rules[at + 1..] {
                    assert_ne!(rule.name, other.name);
                    assert!(Repairs::NONE.with(**rule).has(**rule) && !Repairs::NONE.with(**rule).has(**other));
                }
            }
        }
    }
}
