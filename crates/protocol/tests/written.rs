//! How values are written. Traces, messages on the air and configurations are read by other programs, which rely on
//! these words.

use std::fmt::Debug;

use driftlock_protocol::height::Height;
use driftlock_protocol::hok::{self, Hok};
use driftlock_protocol::klme::{self, Klme};
use driftlock_protocol::klme_ft::{self, KlmeFt};
use driftlock_protocol::krl::{self, Krl};
use driftlock_protocol::{
    Algorithm, Crossing, Deadline, Demand, Deployment, Fence, Grant, Incarnation, K_MAX, LinkEvent, NodeId, Permit,
    Permits, Priority, Protocol, Section, Status, StatusChange, Stay, Units, carries_permits,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The value is written so, and reads back as it was.
#[track_caller]
fn is_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
}

fn permit(number: u8) -> Permit {
    Permit::try_from(number).unwrap()
}

#[test]
fn permits_are_a_list_of_numbers_in_growing_order() {
    is_written(&Permits::NONE, "[]");
    is_written(&Permits::first(3), "[0,1,2]");
    is_written(&Permits::single(permit(127)).union(Permits::single(permit(5))), "[5,127]");
    is_written(&permit(7), "7");
    assert_eq!(serde_json::from_str::<Permits>("[4,2,4]").unwrap(), serde_json::from_str("[2,4]").unwrap());
}

#[test]
fn a_permit_that_no_resource_has_is_refused() {
    assert!(u8::try_from(K_MAX - 1).is_ok_and(|last| Permit::try_from(last).is_ok()));
    assert!(u8::try_from(K_MAX).is_ok_and(|beyond| Permit::try_from(beyond).is_err()));
    let refused = serde_json::from_str::<Permits>("[0,128]").unwrap_err();
    assert!(refused.to_string().contains("a permit number is too large"), "{refused}");
}

#[test]
fn a_demand_names_its_deadline_only_if_it_has_one() {
    is_written(&Demand::ONE, r#"{"units":1,"priority":0}"#);
    let urgent = Demand { units: Units::new(2).unwrap(), priority: Priority(9), deadline: Deadline(40) };
    is_written(&urgent, r#"{"units":2,"priority":9,"deadline":40}"#);
    assert!(serde_json::from_str::<Demand>(r#"{"units":0,"priority":0}"#).is_err(), "never none");
}

#[test]
fn a_grant_names_its_permits_and_its_fence() {
    let grant = Grant { permits: Permits::first(1), fence: Fence { epoch: 2, counter: 3 } };
    is_written(&grant, r#"{"permits":[0],"fence":{"epoch":2,"counter":3}}"#);
}

#[test]
fn a_status_names_its_height_only_if_it_has_one() {
    let status = Status {
        section: Section::Waiting,
        permits: Permits::first(1),
        queue: vec![NodeId(1), NodeId(0)],
        waits_on: None,
        height: None,
    };
    is_written(&status, r#"{"section":"waiting","permits":[0],"queue":[1,0],"waits_on":null}"#);
    let high = Status { section: Section::Critical, height: Some(Height::new(-1, 2, NodeId(3))), ..status };
    is_written(&high, r#"{"section":"critical","permits":[0],"queue":[1,0],"waits_on":null,"height":[-1,2,3]}"#);
}

#[test]
fn a_change_of_status_names_what_has_changed() {
    is_written(&StatusChange::default(), "{}");
    let change = StatusChange { waits_on: Some(vec![]), section: Some(Section::Remainder), ..StatusChange::default() };
    is_written(&change, r#"{"section":"remainder","waits_on":[]}"#);
}

#[test]
fn what_a_layer_tells() {
    let (peer, incarnation) = (NodeId(1), Incarnation(4));
    is_written(&LinkEvent::Up { peer, incarnation }, r#"{"up":{"peer":1,"incarnation":4}}"#);
    is_written(&LinkEvent::Down { peer, incarnation }, r#"{"down":{"peer":1,"incarnation":4}}"#);
    let (stay, life, members) = (Stay(u64::MAX), Incarnation(3), vec![(NodeId(1), Incarnation(2))]);
    let entered = Crossing::Entered { stay, life, members, founds: None };
    is_written(&entered, r#"{"entered":{"stay":18446744073709551615,"life":3,"members":[[1,2]]}}"#);
    let founds = Crossing::Entered { stay: Stay(4), life, members: vec![], founds: Some(3) };
    is_written(&founds, r#"{"entered":{"stay":4,"life":3,"members":[],"founds":3}}"#);
    is_written(&Crossing::Leaving, r#""leaving""#);
    is_written(&Crossing::Met { peer, life: Incarnation(5) }, r#"{"met":{"peer":1,"life":5}}"#);
    is_written(&Crossing::Parted { peer }, r#"{"parted":{"peer":1}}"#);
}

#[test]
fn a_deployment_names_members_only_if_there_are_any() {
    let linked = Deployment { nodes: 2, k: 1, links: vec![(NodeId(0), NodeId(1))], ..Deployment::default() };
    is_written(&linked, r#"{"nodes":2,"k":1,"links":[[0,1]]}"#);
    let met = Deployment { links: vec![], members: vec![NodeId(1)], ..linked };
    is_written(&met, r#"{"nodes":2,"k":1,"links":[],"members":[1]}"#);
    let drawn = Deployment { stays: vec![Stay(7)], ..met };
    is_written(&drawn, r#"{"nodes":2,"k":1,"links":[],"members":[1],"stays":[7]}"#);
}

/// The kinds of messages that are said to hand a token over.
fn handing_over(tag: &str) -> &'static [&'static str] {
    Algorithm::named(tag).unwrap().manner.hands_over
}

/// One message of every kind, in the order of [`Protocol::KINDS`]: its kind is the word that it is written with. And
/// which of them are tokens, and which permits each carries.
fn assert_kinds<P: Protocol>(messages: &[&str], tokens: &[&str], carriers: &[(&str, Permits)]) {
    assert_eq!(messages.len(), P::KINDS.len());
    for (at, json) in messages.iter().enumerate() {
        let message: P::Message = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(&serde_json::to_string(&message).unwrap(), json);
        assert_eq!(P::kind(&message), at, "{json}");
        let kind = P::KINDS[at];
        assert!(json.starts_with(&format!(r#"{{"{kind}":"#)), "{json} is a {kind}");
        let carried = carriers.iter().find(|carrier| carrier.0 == kind).map_or(Permits::NONE, |carrier| carrier.1);
        assert_eq!(P::permits(&message), carried, "{json}");
        assert_eq!(P::is_token(&message), tokens.contains(&kind), "{json}");
        assert_eq!(carries_permits::<P>(&message), tokens.contains(&kind) || !carried.is_empty(), "{json}");
    }
}

#[test]
fn messages_of_krl() {
    let messages = [
        r#"{"request":{"height":[0,1,2]}}"#,
        r#"{"token":{"height":[0,1,2],"token":{"permit":1,"fence":{"epoch":0,"counter":7}},"onward":null}}"#,
        r#"{"link_info":{"height":[0,1,2],"acknowledges":3}}"#,
    ];
    assert_kinds::<Krl>(&messages, handing_over("krl"), &[("token", Permits::single(permit(1)))]);
    for json in messages {
        assert_eq!(serde_json::from_str::<krl::Message>(json).unwrap().height(), Height::new(0, 1, NodeId(2)));
    }
}

#[test]
fn messages_of_hok() {
    let messages = [
        r#"{"request":{"height":[0,1,2],"grants":4,"rank":-5}}"#,
        r#"{"release":{"height":[0,1,2],"grants":4,"permits":[0,1]}}"#,
        r#"{"update":{"height":[0,1,2],"grants":4,"rank":-5}}"#,
        concat!(
            r#"{"token":{"height":[0,1,2],"grants":4,"#,
            r#""token":{"free":[0],"fence":{"epoch":0,"counter":7}},"asks":null}}"#
        ),
        r#"{"link":{"height":[0,1,2],"grants":4,"acknowledges":null}}"#,
    ];
    let carriers = [("release", Permits::first(2)), ("token", Permits::first(1))];
    assert_kinds::<Hok>(&messages, handing_over("hok"), &carriers);
    for json in messages {
        let message: hok::Message = serde_json::from_str(json).unwrap();
        assert_eq!(message.height(), Height::new(0, 1, NodeId(2)));
        assert_eq!(serde_json::to_string(&message.grants()).unwrap(), "4");
    }
}

/// The one token can be without a free unit, and must not be lost for all that.
#[test]
fn a_token_without_units_is_a_token() {
    let fence = Fence::default();
    let token = hok::Token { free: Permits::NONE, fence };
    let (height, grants) = (Height::new(0, 0, NodeId(0)), hok::Grants::default());
    assert!(carries_permits::<Hok>(&hok::Message::Token { height, grants, token, asks: None }));
    let (leader_no, allocated, requests, queue) = (klme::LeaderNo(1), vec![], klme::Numbers::default(), vec![]);
    let token = klme::Token { leader_no, allocated, requests, free: Permits::NONE, fence, queue };
    assert!(carries_permits::<Klme>(&klme::Message::Token { token }));
}

#[test]
fn messages_of_klme() {
    let messages = [
        r#"{"leader_info":{"leader":1,"allocated":[[2,{"life":0,"number":1}]],"leader_no":3}}"#,
        r#"{"i_am_here":{"number":{"life":4,"number":0},"hungry":true}}"#,
        r#"{"req_cs":{"number":{"life":4,"number":1}}}"#,
        concat!(
            r#"{"token":{"token":{"leader_no":3,"allocated":[],"requests":[[2,{"life":0,"number":1}]],"free":[0,1],"#,
            r#""fence":{"epoch":0,"counter":7},"queue":[]}}}"#
        ),
        r#"{"req_ack":{"number":{"life":4,"number":1}}}"#,
        concat!(
            r#"{"per_grant":{"number":{"life":4,"number":1},"#,
            r#""grant":{"permits":[0],"fence":{"epoch":0,"counter":7}},"leader_no":3}}"#
        ),
        r#"{"release":{"number":{"life":4,"number":1}}}"#,
        r#"{"i_am_leaving":{"number":{"life":4,"number":1},"requests":[],"releases":[]}}"#,
        r#"{"token_ack":{"leader_no":3}}"#,
        r#"{"token_lost":{"leader_no":3}}"#,
        r#"{"leave_ack":{"life":4}}"#,
    ];
    assert_kinds::<Klme>(&messages, handing_over("klme"), &[("token", Permits::first(2))]);
}

#[test]
fn messages_of_klme_ft() {
    let messages = [
        concat!(
            r#"{"beat":{"copy":{"number":{"counter":1,"stay":0},"version":0,"round":2,"leader":0,"generation":0,"#,
            r#""holders":[{"id":0,"stay":0}],"rides":[]},"wanted":false,"rests":true}}"#
        ),
        r#"{"claim":{"stay":1,"number":null,"round":2,"want":{"hold":{"leadership":1,"count":5}},"leaving":false}}"#,
        r#"{"grant":{"number":{"counter":1,"stay":0},"round":2,"permit":1,"seal":{"leadership":1,"count":5},"renews":false}}"#,
        r#"{"stand":{"number":{"counter":1,"stay":0},"holders":[],"relieves":null}}"#,
        r#"{"vote":{"stay":1,"number":{"counter":1,"stay":0},"copy":null}}"#,
        r#"{"ahead":{"number":{"counter":1,"stay":0}}}"#,
        r#"{"token":{"number":{"counter":1,"stay":0},"allocated":[]}}"#,
        r#"{"dismiss":{"stay":1,"number":{"counter":1,"stay":0},"round":2}}"#,
    ];
    assert_kinds::<KlmeFt>(&messages, handing_over("klme-ft"), &[]);
    is_written(&klme_ft::Want::Nothing, r#""nothing""#);
}
