//! The shell turns away what an application or the network gets wrong, and the protocol never sees it.

use driftlock_protocol::hok::{self, Hok, Policy};
use driftlock_protocol::klme::Klme;
use driftlock_protocol::krl::{Forwarding, Krl, Message, Timer, Variant};
use driftlock_protocol::{
    Crossing, Demand, Deployment, Effect, Incarnation, Input, InputOf, LinkEvent, Linked, Membership, Node, NodeId,
    Out, Outbox, Priority, Protocol, Refusal, Repairs, Section, Stay, Units,
};

type Effects = Vec<Effect<Message, Timer>>;

const FIRST: Incarnation = Incarnation(0);

/// Node 0 of a pair: node 0 holds the only token, node 1 is its neighbour.
fn pair() -> [Node<Krl>; 2] {
    let deployment = Deployment { nodes: 2, k: 1, links: vec![(NodeId(0), NodeId(1))], ..Deployment::default() };
    let protocols = Krl::deploy(&deployment, Variant::new(Forwarding::Off), Repairs::ALL);
    let peers = [NodeId(1), NodeId(0)];
    let ids = deployment.ids();
    let nodes: Vec<_> = ids
        .zip(protocols.into_iter().zip(peers))
        .map(|(id, (krl, peer))| Node::new(id, krl, Linked::from_iter([(peer, FIRST)])))
        .collect();
    nodes.try_into().expect("two nodes")
}

fn step(node: &mut Node<Krl>, input: InputOf<Krl>) -> (Result<(), Refusal>, Effects) {
    let mut out: Out<Krl> = Outbox::new();
    let verdict = node.step(input, &mut out);
    let effects = out.drain().collect();
    (verdict, effects)
}

fn refused(node: &mut Node<Krl>, input: InputOf<Krl>) -> Refusal {
    let before = node.clone();
    let (verdict, effects) = step(node, input);
    assert_eq!((&before, effects.len()), (&*node, 0), "what is turned away changes nothing");
    verdict.expect_err("this should be turned away")
}

#[test]
fn an_application_asks_once_and_releases_what_it_holds() {
    let [mut holder, mut other] = pair();
    assert_eq!(refused(&mut holder, Input::Release), Refusal::NotHolding);
    assert_eq!(refused(&mut holder, Input::Cancel), Refusal::NotWaiting);
    let (verdict, effects) = step(&mut holder, Input::Request(Demand::ONE));
    assert_eq!(verdict, Ok(()));
    assert!(matches!(effects[..], [Effect::Grant(_)]));
    assert_eq!(refused(&mut holder, Input::Request(Demand::ONE)), Refusal::AlreadyHolding);
    assert_eq!(refused(&mut holder, Input::Cancel), Refusal::NotWaiting);
    assert_eq!(step(&mut holder, Input::Release).0, Ok(()));
    assert_eq!(step(&mut other, Input::Request(Demand::ONE)).0, Ok(()));
    assert_eq!(refused(&mut other, Input::Request(Demand::ONE)), Refusal::AlreadyWaiting);
    assert_eq!(refused(&mut other, Input::Release), Refusal::NotHolding);
}

#[test]
fn more_units_than_the_algorithm_grants_are_not_even_asked_for() {
    let [mut holder, _] = pair();
    let two = Units(2.try_into().expect("not zero"));
    let demand = Demand { units: two, ..Demand::ONE };
    assert_eq!(refused(&mut holder, Input::Request(demand)), Refusal::TooManyUnits { asked: 2, most: 1 });
}

#[test]
fn a_message_over_no_link_or_a_former_link_is_turned_away() {
    let [mut holder, other] = pair();
    let message = Message::Request { height: other.protocol().status().height.expect("krl has heights") };
    let from = |from, incarnation| Input::Message { from: NodeId(from), incarnation, message: message.clone() };
    assert_eq!(refused(&mut holder, from(7, FIRST)), Refusal::UnknownSender { from: NodeId(7) });
    let (peer, late) = (NodeId(1), Incarnation(1));
    assert_eq!(refused(&mut holder, from(1, late)), Refusal::WrongIncarnation { from: peer, got: late, now: FIRST });
    step(&mut holder, Input::Below(LinkEvent::Down { peer, incarnation: FIRST })).0.expect("the link was up");
    // As published, this request would make the holder send its token over a link that has failed.
    assert_eq!(refused(&mut holder, from(1, FIRST)), Refusal::UnknownSender { from: peer });
    assert!(!holder.protocol().held().is_empty());
}

#[test]
fn a_token_may_come_late_from_a_former_neighbour_but_not_beside_a_new_link_to_it() {
    let [mut holder, mut other] = pair();
    step(&mut holder, Input::Request(Demand::ONE)).0.expect("it may ask");
    let request = Message::Request { height: other.protocol().status().height.expect("krl has heights") };
    let asks = Input::Message { from: NodeId(1), incarnation: FIRST, message: request };
    step(&mut holder, asks).0.expect("a message of a neighbour");
    let given = step(&mut holder, Input::Release).1.into_iter().find_map(|effect| match effect {
        Effect::Send { message, .. } if !Krl::permits(&message).is_empty() => Some(message),
        _ => None,
    });
    let (peer, message) = (NodeId(0), given.expect("the token goes to who asked"));
    let late = Input::Message { from: peer, incarnation: FIRST, message };
    step(&mut other, Input::Below(LinkEvent::Down { peer, incarnation: FIRST })).0.expect("the link was up");
    let now = Incarnation(1);
    let mut again = other.clone();
    step(&mut again, Input::Below(LinkEvent::Up { peer, incarnation: now })).0.expect("the link was down");
    assert_eq!(refused(&mut again, late.clone()), Refusal::WrongIncarnation { from: peer, got: FIRST, now });
    assert_eq!(step(&mut other, late).0, Ok(()));
    assert!(!other.protocol().held().is_empty());
}

#[test]
fn links_go_up_and_down_one_after_the_other() {
    let [mut holder, _] = pair();
    let peer = NodeId(1);
    let up = Input::Below(LinkEvent::Up { peer, incarnation: Incarnation(1) });
    let down = |incarnation| Input::Below(LinkEvent::Down { peer, incarnation });
    assert_eq!(refused(&mut holder, up.clone()), Refusal::LinkAlreadyUp { peer });
    let own = LinkEvent::Up { peer: NodeId(0), incarnation: Incarnation(2) };
    assert_eq!(refused(&mut holder, Input::Below(own)), Refusal::OwnLink);
    assert_eq!(refused(&mut holder, down(Incarnation(9))), Refusal::NoSuchLink { peer });
    assert_eq!(step(&mut holder, down(FIRST)).0, Ok(()));
    assert_eq!(refused(&mut holder, down(FIRST)), Refusal::NoSuchLink { peer });
    assert_eq!(step(&mut holder, up).0, Ok(()));
}

#[test]
fn links_are_known_in_whatever_order_they_are_told() {
    let [node, _] = pair();
    let node =
        Node::new(NodeId(0), node.protocol().clone(), Linked::from_iter([(NodeId(3), FIRST), (NodeId(1), FIRST)]));
    assert_eq!([1, 2, 3].map(|peer| node.incarnation(NodeId(peer))), [Some(FIRST), None, Some(FIRST)]);
}

#[test]
fn a_node_enters_from_outside_and_is_told_to_leave_once() {
    let nowhere = Deployment { nodes: 1, k: 1, ..Deployment::default() };
    let protocol = Klme::deploy(&nowhere, (), Repairs::ALL).remove(0);
    let mut node = Node::new(NodeId(0), protocol, Membership::Outside);
    let entered = || {
        let members = vec![(NodeId(1), Incarnation(0))];
        Crossing::Entered { stay: Stay(7), life: Incarnation(1), members, founds: None }
    };
    let mut told = |crossing| {
        let before = node.clone();
        let verdict = node.step(Input::Below(crossing), &mut Outbox::new());
        assert_eq!(verdict.is_err(), before == node, "what is turned away changes nothing");
        verdict
    };
    assert_eq!(told(Crossing::Leaving), Err(Refusal::Outside));
    assert_eq!(told(entered()), Ok(()));
    assert_eq!(told(entered()), Err(Refusal::AlreadyInside));
    assert_eq!(told(Crossing::Leaving), Ok(()));
    assert_eq!(told(Crossing::Leaving), Err(Refusal::AlreadyInside));
}

/// Delivers everything between the two nodes until both are silent, and collects the grants.
fn drive(nodes: &mut [Node<Krl>; 2], first: Effects, sender: usize) -> Vec<usize> {
    let mut grants = Vec::new();
    let mut pending: Vec<_> = first.into_iter().map(|effect| (sender, effect)).collect();
    while !pending.is_empty() {
        let (from, effect) = pending.remove(0);
        match effect {
            Effect::Send { message, .. } => {
                let input = Input::Message { from: NodeId(u32::from(from == 1)), incarnation: FIRST, message };
                let (verdict, effects) = step(&mut nodes[1 - from], input);
                verdict.expect("a message of a neighbour");
                pending.extend(effects.into_iter().map(|effect| (1 - from, effect)));
            }
            Effect::Grant(_) => grants.push(from),
            _ => {}
        }
    }
    grants
}

#[test]
fn a_cancelled_request_is_released_the_moment_it_is_granted() {
    let mut nodes = pair();
    let (_, asked) = step(&mut nodes[1], Input::Request(Demand::ONE));
    step(&mut nodes[1], Input::Cancel).0.expect("it waits");
    assert_eq!(drive(&mut nodes, asked, 1), [0; 0], "the application does not hear of it");
    assert_eq!(nodes[1].protocol().section(), Section::Remainder);
    assert!(!nodes[1].protocol().held().is_empty(), "the token came and is free for others");
    let (verdict, effects) = step(&mut nodes[1], Input::Request(Demand::ONE));
    assert!(verdict.is_ok() && matches!(effects[..], [Effect::Grant(_)]));
}

#[test]
fn a_request_after_a_cancel_takes_up_the_one_that_is_still_on_its_way() {
    let mut nodes = pair();
    let (_, asked) = step(&mut nodes[1], Input::Request(Demand::ONE));
    step(&mut nodes[1], Input::Cancel).0.expect("it waits");
    let (verdict, effects) = step(&mut nodes[1], Input::Request(Demand::ONE));
    assert_eq!((verdict, effects.len()), (Ok(()), 0), "nothing more has to be sent");
    assert_eq!(drive(&mut nodes, asked, 1), [1]);
    let grant = nodes[1].grant().expect("granted");
    assert_eq!((grant.permits.count(), grant.fence.counter), (1, 1));
}

/// Two units for two nodes; node 1 has asked for some and changed its mind.
#[test]
fn another_demand_has_to_wait_until_the_cancelled_one_is_through() {
    let deployment = Deployment { nodes: 2, k: 2, links: vec![(NodeId(0), NodeId(1))], ..Deployment::default() };
    let protocol = Hok::deploy(&deployment, hok::Variant::new(Policy::Priority), Repairs::ALL).swap_remove(1);
    let mut node = Node::new(NodeId(1), protocol, Linked::from_iter([(NodeId(0), FIRST)]));
    let demand = |units| Demand { units: Units::new(units).expect("not zero"), ..Demand::ONE };
    let mut ask = |input| node.step(input, &mut Outbox::new()).map(|()| (node.demand(), node.pending()));
    assert_eq!(ask(Input::Request(demand(1))), Ok((Some(demand(1)), Some(demand(1)))));
    assert_eq!(ask(Input::Cancel), Ok((None, Some(demand(1)))), "the protocol waits still");
    assert_eq!(ask(Input::Request(demand(2))), Err(Refusal::StillWithdrawing));
    assert_eq!(ask(Input::Cancel), Err(Refusal::NotWaiting));
    assert_eq!(ask(Input::Request(demand(1))), Ok((Some(demand(1)), Some(demand(1)))), "as it was");
}

#[test]
fn a_node_may_ask_for_what_the_shell_would_take() {
    let [mut holder, mut other] = pair();
    let urgent = Demand { priority: Priority(1), ..Demand::ONE };
    assert!(holder.may_ask(Demand::ONE) && holder.may_ask(urgent));
    step(&mut holder, Input::Request(Demand::ONE)).0.expect("it may ask");
    assert!(!holder.may_ask(Demand::ONE), "it holds a grant");
    step(&mut other, Input::Request(Demand::ONE)).0.expect("it may ask");
    assert!(!other.may_ask(Demand::ONE), "it waits");
    step(&mut other, Input::Cancel).0.expect("it waits");
    assert!(other.may_ask(Demand::ONE) && !other.may_ask(urgent), "only what it has asked for before");
}

/// Node 0 holds the token between nodes 1 and 2. Takes what node 1 sends when it asks for a message of node 2.
fn ignores_what_speaks_of_another_node<P: Protocol<View = LinkEvent> + PartialEq + std::fmt::Debug>(
    variant: P::Variant,
) {
    let links = vec![(NodeId(0), NodeId(1)), (NodeId(0), NodeId(2))];
    let deployment = Deployment { nodes: 3, k: 1, links, ..Deployment::default() };
    let protocols = P::deploy(&deployment, variant, Repairs::ALL);
    let reach = |peers: &[u32]| peers.iter().map(|&peer| (NodeId(peer), FIRST)).collect::<Linked>();
    let mut holder = Node::new(NodeId(0), protocols[0].clone(), reach(&[1, 2]));
    let mut asker = Node::new(NodeId(1), protocols[1].clone(), reach(&[0]));
    let mut out: Out<P> = Outbox::new();
    asker.step(Input::Request(Demand::ONE), &mut out).expect("it may ask");
    let Some(Effect::Send { message, .. }) = out.drain().next() else { panic!("it asks node 0") };
    let of = |from| Input::Message { from: NodeId(from), incarnation: FIRST, message: message.clone() };
    let before = holder.clone();
    assert_eq!(holder.step(of(2), &mut out), Ok(()));
    assert_eq!((&holder, out.effects().len()), (&before, 0), "a forged message is as good as none");
    assert_eq!(holder.step(of(1), &mut out), Ok(()));
    assert!(!out.effects().is_empty(), "the true one is answered");
}

#[test]
fn no_node_speaks_of_another_nodes_height() {
    ignores_what_speaks_of_another_node::<Krl>(Variant::new(Forwarding::Off));
    ignores_what_speaks_of_another_node::<Hok>(hok::Variant::new(Policy::Priority));
}
