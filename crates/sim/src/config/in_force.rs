//! Which parameters had a say in a run, and which did not: results tell the two apart.

use driftlock_protocol::ideal::Start;
use serde_json::{Map, Value};

use super::{Config, LINK_INFO, OF_LINKS, OF_NEIGHBOURHOODS, Plan};
use crate::churn::Churn;
use crate::field::Membership;

impl Plan {
    /// Every parameter as a file has it, and null if it had no say in the run: what it is then was not chosen, and
    /// to compare runs by it would be wrong. The radio of a field is written out.
    pub fn parameters(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut parameters)) = serde_json::to_value(&self.config) else { return Map::new() };
        for name in self.idle() {
            parameters.insert(name.into(), Value::Null);
        }
        if let Some(plan) = &self.config.field {
            // Floods and suspicions are there for algorithms to come.
            let (idle_layers, membership): (&[_], _) = match self.algorithm.starts_from() {
                Start::Links => (&["session", "flood", "suspicion", "adverts"], Value::Null),
                Start::Members | Start::Nodes => {
                    let membership = plan.membership_of(self.algorithm.claims());
                    let idle: &[_] = match membership {
                        Membership::Heard => &["flood", "suspicion"],
                        Membership::Decreed => &["flood", "suspicion", "adverts"],
                    };
                    (idle, serde_json::to_value(membership).unwrap_or_default())
                }
            };
            let mut field = plan.in_force(idle_layers);
            field["membership"] = membership;
            parameters.insert("field".into(), field);
        }
        parameters
    }

    /// The parameters that had no say.
    fn idle(&self) -> Vec<&'static str> {
        let mut idle = match (&self.config.field, self.algorithm.starts_from()) {
            (Some(_), _) => [&OF_LINKS[..], &OF_NEIGHBOURHOODS, &["delay"]].concat(),
            (None, Start::Links) => OF_NEIGHBOURHOODS.to_vec(),
            (None, Start::Members) => OF_LINKS.to_vec(),
            (None, Start::Nodes) => [&OF_LINKS[..], &OF_NEIGHBOURHOODS].concat(),
        };
        let &Config { mobility, churn, speed, nodes, ref topology, ref load_of, ref priority_of, .. } = &self.config;
        let of_all = |own: usize| own == nodes as usize;
        let has_link_info = self.algorithm.repairs().iter().any(|repair| repair.name == LINK_INFO);
        let by_others: [(bool, &[&'static str]); 8] = [
            (!topology.is_random(), &["connectivity"]),
            (mobility <= 0.0, &["link_failure"]),
            (churn == Churn::NONE, &["absence"]),
            (churn != Churn::NONE, &["speed"]),
            (speed > 0.0, &["churn"]),
            (speed <= 0.0, &["areas", "spacing", "margin"]),
            (of_all(load_of.len()), &["load", "contention"]),
            (of_all(priority_of.len()), &["priorities"]),
        ];
        idle.extend(by_others.iter().filter(|(is_idle, _)| *is_idle).flat_map(|(_, names)| *names));
        idle.extend((!has_link_info).then_some("link_info"));
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{FieldPlan, Radio};

    fn nulls(config: Config) -> Vec<String> {
        let parameters = config.plan().expect("it makes sense").parameters();
        parameters.into_iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name).collect()
    }

    fn config(text: &str) -> Config {
        toml::from_str(text).expect("a configuration")
    }

    #[test]
    fn links_know_no_neighbourhoods_and_neighbourhoods_no_links() {
        let places = ["neighbourhoods", "churn", "absence", "speed", "areas", "spacing", "margin"];
        let mut links = vec!["contention"];
        links.extend(places);
        links.push("link_failure");
        assert_eq!(nulls(Config::default()), links);
        let failing = nulls(config("mobility = 0.1"));
        assert!(!failing.contains(&"link_failure".to_owned()), "links fail: {failing:?}");
        let klme = nulls(config("algorithm = \"klme\""));
        let standing = ["absence", "areas", "spacing", "margin"];
        let of_links = ["contention", "topology", "connectivity", "mobility", "restarts"];
        assert_eq!(klme, [&of_links[..], &standing, &["link_failure", "link_info"]].concat());
    }

    #[test]
    fn one_way_to_move_takes_the_place_of_the_other() {
        let of = |text: &str| nulls(config(&format!("algorithm = \"klme\"\n{text}")));
        let (churning, walking) = (of("churn = \"light\""), of("speed = 1.5"));
        let has = |nulls: &[String], name: &str| nulls.iter().any(|null| null == name);
        assert!(has(&churning, "speed") && has(&churning, "spacing") && !has(&churning, "absence"), "{churning:?}");
        assert!(has(&walking, "churn") && has(&walking, "absence") && !has(&walking, "spacing"), "{walking:?}");
    }

    #[test]
    fn what_is_said_of_every_single_node_leaves_nothing_to_say_of_all() {
        let all = "algorithm = \"hok\"\nnodes = 2\nk = 1\ntopology = \"line\"\nload_of = { 0 = 1, 1 = 2 }\n";
        let nulls_of_all = nulls(config(&format!("{all}priority_of = {{ 0 = 1, 1 = 2 }}\n")));
        for name in ["load", "priorities", "connectivity"] {
            assert!(nulls_of_all.iter().any(|null| null == name), "{name}: {nulls_of_all:?}");
        }
        let one = nulls(config(&all.replace(", 1 = 2", "")));
        assert!(!one.iter().any(|null| null == "load" || null == "priorities"), "{one:?}");
    }

    #[test]
    fn on_a_field_nothing_is_decreed_and_its_radio_is_written_out() {
        let field = FieldPlan { radio: Radio::Named("nfk".into()), ..FieldPlan::default() };
        let named = Config { field: Some(field.clone()), ..Config::default() };
        let nulls = nulls(named.clone());
        for name in OF_LINKS.iter().chain(&OF_NEIGHBOURHOODS).chain(&["delay"]) {
            assert!(nulls.iter().any(|null| null == name), "{name}: {nulls:?}");
        }
        let parameters = named.plan().unwrap().parameters();
        assert_eq!(parameters["field"]["radio"]["propagation"]["range-m"], 200.0);
        assert!(parameters["field"]["layers"]["session"].is_null() && parameters["field"]["movement"].is_object());
        assert!(parameters["field"]["membership"].is_null());
        for (tag, membership) in [("klme", "decreed"), ("klme-ft", "heard")] {
            let routed = Config { field: Some(field.clone()), algorithm: tag.into(), ..Config::default() };
            let field = &routed.plan().unwrap().parameters()["field"];
            assert_eq!(field["membership"], membership, "what is in force, though nothing was said");
            let is_there = |layer: &&str| field["layers"][*layer].is_object();
            assert!(["link", "session", "aodv"].iter().all(is_there), "all say hello");
            assert_eq!(is_there(&"adverts"), membership == "heard", "with adverts only if somebody listens");
        }
    }
}
