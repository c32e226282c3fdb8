//! One node at a time: what it says and does about what it hears.

use alloc::format;

use super::*;
use crate::{Effect, Fence, Incarnation, Outbox};

/// Node 1 of a star, the middle of it: node 0, which holds the one token, is below it, nodes 2 and 3 are above.
fn middle_with(forwarding: Forwarding, repairs: Repairs) -> Krl {
    let links = [(0, 1), (1, 2), (1, 3)].map(|(a, b)| (NodeId(a), NodeId(b))).into();
    let deployment = Deployment { nodes: 4, k: 1, links, ..Deployment::default() };
    Krl::deploy(&deployment, Variant::new(forwarding), repairs).swap_remove(1)
}

fn middle() -> Krl {
    middle_with(Forwarding::Off, Repairs::ALL)
}

fn without(repair: Repair) -> Krl {
    middle_with(Forwarding::Off, Repairs::ALL.without(repair))
}

/// With these in its queue, in this order; itself among them, it waits.
fn asked(mut node: Krl, requests: &[u32]) -> Krl {
    node.queue = requests.iter().copied().map(NodeId).collect();
    if node.queue.contains(&node.id) {
        node.status = Section::Waiting;
    }
    node
}

/// With the token, which it does not use.
fn holding(mut node: Krl) -> Krl {
    (node.idle, node.next) = ([token()].into(), Some(node.id));
    node
}

/// In its CS.
fn using(mut node: Krl) -> Krl {
    (node.in_use, node.next, node.status) = (Some(token()), Some(node.id), Section::Critical);
    node
}

/// Where all its neighbours are higher, node 0 on a level far above.
fn lowest(mut node: Krl) -> Krl {
    node.dag.neighbours[0].height = Height::new(7, 0, NodeId(0));
    node
}

/// Where all its neighbours are lower, node 0 on a level far below.
fn highest(mut node: Krl) -> Krl {
    for (at, order) in [(0, 0), (1, 0), (2, -1)] {
        node.dag.neighbours[at].height.h2 = order;
    }
    node.dag.neighbours[0].height.h1 = -7;
    node
}

fn paused(mut node: Krl) -> Krl {
    node.dag.pace.paused = true;
    node
}

fn token() -> Token {
    Token { permit: 0.try_into().unwrap(), fence: Fence::default() }
}

/// Of another node; node 1 stands at order 1 of level 0.
fn height(id: u32, order: i64) -> Height {
    Height::new(0, order, NodeId(id))
}

/// Where node 1 takes another one to stand.
fn view(node: &Krl, id: u32) -> Height {
    node.dag.neighbours[node.dag.position(NodeId(id)).unwrap()].height
}

fn request(from: u32, order: i64) -> Message {
    Message::Request { height: height(from, order) }
}

fn handed(from: u32, order: i64, onward: Option<u8>) -> Message {
    Message::Token { height: height(from, order), token: token(), onward }
}

fn info(from: u32, order: i64, acknowledges: Option<u32>) -> Message {
    Message::LinkInfo { height: height(from, order), acknowledges: acknowledges.map(NodeId) }
}

fn up(peer: u32) -> LinkEvent {
    LinkEvent::Up { peer: NodeId(peer), incarnation: Incarnation(7) }
}

fn down(peer: u32) -> LinkEvent {
    LinkEvent::Down { peer: NodeId(peer), incarnation: Incarnation(7) }
}

fn effects(node: &mut Krl, act: impl FnOnce(&mut Krl, &mut Out<Krl>)) -> Vec<Effect<Message, Timer>> {
    let mut out = Outbox::new();
    act(node, &mut out);
    out.drain().collect()
}

/// What it does, in short, and to which node.
fn done(node: &mut Krl, act: impl FnOnce(&mut Krl, &mut Out<Krl>)) -> Vec<String> {
    let brief = |effect| match effect {
        Effect::Send { to, message, .. } => format!("{} {to}", Krl::KINDS[Krl::kind(&message)]),
        Effect::Grant(_) => "grant".into(),
        Effect::Arm { .. } => "arm".into(),
        Effect::Disarm { .. } => "disarm".into(),
        other => format!("{other:?}"),
    };
    effects(node, act).into_iter().map(brief).collect()
}

fn heard(node: &mut Krl, message: Message) -> Vec<String> {
    let from = message.height().id;
    done(node, |node, out| node.message(from, message, out))
}

/// The messages to one node.
fn told(node: &mut Krl, to: u32, message: Message) -> Vec<Message> {
    let from = message.height().id;
    let answer = |effect| match effect {
        Effect::Send { to: receiver, message, .. } if receiver == NodeId(to) => Some(message),
        _ => None,
    };
    effects(node, |node, out| node.message(from, message, out)).into_iter().filter_map(answer).collect()
}

fn queue(node: &Krl) -> Vec<u32> {
    node.queue.iter().map(|id| id.0).collect()
}

#[test]
fn a_node_asks_the_lowest_neighbour_unless_others_have_asked_through_it() {
    let ask = |node: &mut Krl| done(node, |node, out| node.request(Demand::ONE, out));
    let mut node = middle();
    assert_eq!(ask(&mut node), ["request 0"]);
    assert_eq!((queue(&node), node.status, node.next), ([1].into(), Section::Waiting, Some(NodeId(0))));
    let mut node = asked(middle(), &[2]);
    assert_eq!(ask(&mut node), [""; 0]);
    assert_eq!(queue(&node), [2, 1]);
    let mut node = holding(middle());
    assert_eq!(ask(&mut node), ["grant"]);
    assert_eq!((node.status, node.in_use.map(|token| token.fence)), (Section::Critical, Some(Fence::default().next())));
}

#[test]
fn a_node_that_waits_with_a_reversal_and_has_no_neighbour_to_ask_asks_later() {
    let ask = |mut node: Krl| {
        let asked = done(&mut node, |node, out| node.request(Demand::ONE, out));
        (asked.first().cloned().unwrap_or_default(), node.next.map(|next| next.0))
    };
    assert_eq!(ask(paused(lowest(middle()))), (String::new(), None));
    assert_eq!(ask(paused(middle())).0, "request 0", "there is a lower one");
    assert_eq!(ask(lowest(middle())).0, "request 2", "no reversal had to wait");
    assert_eq!(ask(paused(lowest(without(repair::PENDING_REQUEST)))), (String::new(), Some(0)));
}

#[test]
fn a_token_that_is_released_goes_to_the_next_with_a_request_for_the_others() {
    let release = |mut node: Krl| {
        let released = done(&mut node, Protocol::release);
        assert_eq!((node.status, node.in_use), (Section::Remainder, None));
        (released, node)
    };
    let (released, node) = release(asked(using(middle()), &[2, 3]));
    assert_eq!(released, ["token 2", "request 2"]);
    assert_eq!((node.next, queue(&node), view(&node, 2)), (Some(NodeId(2)), [3].into(), height(2, 0)));
    assert_eq!(release(asked(using(middle()), &[2])).0, ["token 2"]);
    let (released, node) = release(using(middle()));
    assert_eq!((released.len(), node.idle.len(), node.next), (0, 1, Some(NodeId(1))));
    let mut two = asked(using(middle()), &[2]);
    two.idle.push(token());
    assert_eq!(release(two).0, ["token 2"], "it has a token left for whoever else asks");
}

/// Nodes 2 and 3 stand below, as node 0 does: requests have no way here.
#[test]
fn a_node_that_keeps_a_token_lowers_itself_when_no_request_could_reach_it() {
    let release = |node: Krl| done(&mut using(highest(node)), Protocol::release);
    assert_eq!(release(middle()), ["link_info 2", "link_info 3"], "those over whom it stands no more");
    assert_eq!(release(asked(middle(), &[2])), ["token 2"], "it keeps none");
    let published = release(asked(without(repair::RELEASE_HOLDS), &[2]));
    assert_eq!(published, ["token 2", "link_info 3"], "as published it lowers itself all the same");
    assert_eq!(done(&mut using(middle()), Protocol::release), [""; 0], "there is a higher one");
    let forwarding = release(middle_with(Forwarding::Always, Repairs::ALL));
    assert_eq!(forwarding, ["token 0"], "it is sent on");
}

#[test]
fn a_request_of_a_higher_node_is_passed_on_once() {
    let mut node = middle();
    assert_eq!(heard(&mut node, request(2, 5)), ["request 0"]);
    assert_eq!((queue(&node), view(&node, 2)), ([2].into(), height(2, 5)));
    assert_eq!(heard(&mut node, request(3, 2)), [""; 0]);
    assert_eq!(heard(&mut node, request(2, 5)), [""; 0]);
    assert_eq!(queue(&node), [2, 3]);
    let mut lower = asked(middle(), &[3]);
    assert_eq!((heard(&mut lower, request(0, -2)), queue(&lower)), ([].into(), [3].into()), "it stands below");
}

#[test]
fn a_request_counts_for_nothing_while_a_token_is_on_its_way_to_its_sender() {
    let mut node = middle();
    node.dag.neighbours[1].unacknowledged = 1;
    assert_eq!(heard(&mut node, request(2, 5)), [""; 0]);
    assert_eq!((queue(&node).len(), view(&node, 2)), (0, height(2, 2)));
}

#[test]
fn a_holder_gives_a_token_that_it_does_not_use_and_queues_the_others() {
    assert_eq!(heard(&mut holding(middle()), request(2, 2)), ["token 2"]);
    let mut node = using(middle());
    assert_eq!(heard(&mut node, request(2, 2)), [""; 0]);
    assert_eq!(queue(&node), [2]);
    assert_eq!(heard(&mut holding(middle()), request(0, -2)), [""; 0], "nobody is in its queue");
}

#[test]
fn a_holder_that_learns_that_it_stands_above_all_lowers_itself() {
    let learns = |node: Krl| heard(&mut using(highest(node)), request(2, 0));
    assert_eq!(learns(middle()), ["link_info 2", "link_info 3"]);
    assert_eq!(learns(without(repair::RECLAIM)), [""; 0], "a holder comes to stand so by RECLAIM alone");
    assert_eq!(heard(&mut using(middle()), request(0, -2)), [""; 0], "there is a higher one");
}

#[test]
fn a_node_that_learns_from_a_request_that_it_stands_below_all_rises() {
    let mut node = lowest(middle());
    assert_eq!(heard(&mut node, request(2, 2)), ["link_info 0", "link_info 2", "link_info 3"]);
    assert_eq!((node.dag.my_height.h1, queue(&node).len()), (1, 0), "whoever asked is below it now");
    let mut node = asked(lowest(middle()), &[1]);
    assert_eq!(heard(&mut node, request(2, 2)).last().unwrap(), "request 2", "its own request goes on");
}

#[test]
fn a_request_that_waits_goes_another_way_when_the_link_that_it_went_has_turned() {
    let turned = |mut node: Krl, next: Option<u32>| {
        node.dag.neighbours[2].height = height(3, 0);
        node.next = next.map(NodeId);
        heard(&mut node, request(2, 2))
    };
    assert_eq!(turned(asked(middle(), &[1]), Some(2)), ["request 0"]);
    assert_eq!(turned(asked(middle(), &[1]), Some(0)), [""; 0], "that link has not turned");
    assert_eq!(turned(asked(middle(), &[1]), None), ["request 0"], "it had no way");
    assert_eq!(turned(asked(without(repair::PENDING_REQUEST), &[1]), None), [""; 0]);
}

/// Node 2 was told that node 1 stands at order 5, where it did stand.
#[test]
fn a_neighbour_that_was_told_otherwise_is_told_when_its_height_is_learned() {
    let learns = |mut node: Krl, message: Message| {
        node.next = Some(NodeId(0));
        node.dag.neighbours[1].told = height(1, 5);
        heard(&mut node, message)
    };
    assert_eq!(learns(middle(), request(2, 3)), ["request 0", "link_info 2"]);
    assert_eq!(learns(without(repair::LINK_INFO), request(2, 3)), ["request 0"]);
    assert_eq!(learns(middle(), info(2, 3, None)), ["link_info 2"]);
    assert_eq!(learns(without(repair::LINK_INFO), info(2, 3, None)), [""; 0]);
    assert_eq!(learns(middle(), info(2, 8, None)), [""; 0], "the link has not turned");
}

#[test]
fn a_node_that_gets_a_token_goes_below_its_sender_acknowledges_it_and_tells_those_whose_links_turn() {
    let mut node = middle();
    node.dag.neighbours[1].height = height(2, -2);
    let mut published = Krl { repairs: Repairs::ALL.without(repair::LINK_INFO), ..node.clone() };
    assert_eq!(heard(&mut node, handed(0, -4, None)), ["link_info 0", "link_info 2"]);
    assert_eq!((node.dag.my_height, view(&node, 0)), (height(1, -5), height(0, -4)));
    assert_eq!((node.idle.len(), node.next), (1, Some(NodeId(1))));
    assert_eq!(heard(&mut published, handed(0, -4, None)), ["link_info 0", "link_info 2"]);
    published = without(repair::LINK_INFO);
    published.dag.neighbours[1].height = height(2, -9);
    assert_eq!(heard(&mut published, handed(0, -4, None)), ["link_info 0", "link_info 2"], "whoever was lower");
    let mut node = middle();
    node.dag.neighbours[1].height = height(2, -9);
    assert_eq!(heard(&mut node, handed(0, -4, None)), ["link_info 0"], "that link has not turned");
    let mut below = middle();
    below.dag.neighbours[1].height = height(2, 0);
    assert_eq!(heard(&mut below, handed(3, 9, None)), ["link_info 3"], "it stands below it already");
    assert_eq!(below.dag.my_height, height(1, 1));
}

#[test]
fn a_token_is_acknowledged_under_the_true_height_and_as_published_under_the_one_that_is_expected() {
    let acknowledgement = |mut node: Krl| told(&mut node, 3, handed(3, 9, None));
    assert_eq!(acknowledgement(middle()), [info(1, 1, Some(3))]);
    assert_eq!(acknowledgement(without(repair::ACKNOWLEDGE)), [info(1, 8, Some(3))]);
}

#[test]
fn a_token_serves_the_next_or_stays_and_one_that_is_forwarded_travels_on() {
    assert_eq!(heard(&mut asked(middle(), &[1]), handed(0, 0, None)), ["link_info 0", "grant"]);
    assert_eq!(heard(&mut middle(), handed(0, 0, None)), ["link_info 0"]);
    let mut forwarding = middle_with(Forwarding::Always, Repairs::ALL);
    assert_eq!(heard(&mut forwarding, handed(0, 0, Some(0))), ["link_info 0", "token 2"]);
    assert_eq!(forwarding.dag.neighbours.iter().map(|k| k.visited).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(forwarding.next, Some(NodeId(2)));
    let mut node = middle();
    heard(&mut node, handed(0, 0, None));
    assert!(!node.dag.neighbours[0].visited, "without forwarding nobody asks where it was");
}

#[test]
fn the_load_counts_tokens_that_become_free_here_or_are_forwarded_to_here() {
    let load = |act: fn(&mut Krl, &mut Out<Krl>)| {
        let mut node = asked(middle_with(Forwarding::Adaptive, Repairs::ALL), &[2]);
        done(&mut node, act);
        node.load != forwarding::PerceivedLoad::default()
    };
    assert!(load(|node, out| node.message(NodeId(0), handed(0, 0, Some(1)), out)));
    assert!(!load(|node, out| node.message(NodeId(0), handed(0, 0, None), out)), "that one was asked for");
    assert!(load(|node, out| {
        *node = using(node.clone());
        node.release(out);
    }));
    let mut always = asked(using(middle_with(Forwarding::Always, Repairs::ALL)), &[2]);
    done(&mut always, Protocol::release);
    assert_eq!(always.load, forwarding::PerceivedLoad::default(), "nothing depends on it");
}

#[test]
fn a_token_travels_as_far_as_it_may_and_to_where_it_was_not() {
    let mut node = holding(middle_with(Forwarding::Adaptive, Repairs::ALL));
    assert_eq!(done(&mut node.clone(), |node, out| node.forward_idle_token(Some(0), out)), [""; 0]);
    assert_eq!(done(&mut node.clone(), |node, out| node.forward_idle_token(None, out)), [""; 0], "there is no load");
    node.dag.neighbours[0].visited = true;
    let sent = effects(&mut node.clone(), |node, out| node.forward_idle_token(Some(3), out));
    let [Effect::Send { to: NodeId(2), message: Message::Token { onward: Some(2), .. }, .. }] = &sent[..] else {
        panic!("{sent:?}")
    };
    for neighbour in &mut node.dag.neighbours {
        neighbour.visited = true;
    }
    assert_eq!(done(&mut node, |node, out| node.forward_idle_token(Some(3), out)), ["token 0"], "it begins anew");
    assert_eq!(node.dag.neighbours.iter().map(|k| k.visited).collect::<Vec<_>>(), [true, false, false]);
    let mut kept = holding(middle());
    kept.next = None;
    assert_eq!(done(&mut kept, |node, out| node.forward_idle_token(Some(3), out)), [""; 0], "krl keeps it");
    assert_eq!((kept.next, kept.idle.len()), (Some(NodeId(1)), 1));
}

#[test]
fn a_node_that_is_alone_keeps_a_token_that_would_travel() {
    let mut node = holding(middle_with(Forwarding::Always, Repairs::ALL));
    (node.dag.neighbours, node.next) = ([].into(), None);
    assert_eq!(done(&mut node, |node, out| node.forward_idle_token(None, out)), [""; 0]);
    assert_eq!((node.next, node.idle.len()), (Some(NodeId(1)), 1));
}

#[test]
fn a_neighbour_whose_height_is_not_known_is_no_place_to_forward_to() {
    let mut node = holding(middle_with(Forwarding::Always, Repairs::ALL));
    for neighbour in &mut node.dag.neighbours {
        (neighbour.visited, neighbour.known) = (neighbour.id != NodeId(2), neighbour.id != NodeId(2));
    }
    assert_eq!(done(&mut node, |node, out| node.forward_idle_token(None, out)), ["token 0"], "it begins anew");
}

#[test]
fn what_a_neighbour_says_of_its_height_counts_when_it_has_acknowledged_the_token() {
    let mut node = middle();
    node.dag.neighbours[1].unacknowledged = 2;
    let owed = |node: &Krl| (view(node, 2), node.dag.neighbours[1].unacknowledged);
    heard(&mut node, info(2, 7, None));
    heard(&mut node, info(2, 8, Some(3)));
    assert_eq!(owed(&node), (height(2, 2), 2));
    heard(&mut node, info(2, 9, Some(1)));
    assert_eq!(owed(&node), (height(2, 2), 1));
    heard(&mut node, info(2, 10, Some(1)));
    assert_eq!(owed(&node), (height(2, 10), 0));
    heard(&mut node, info(2, 11, Some(1)));
    assert_eq!(owed(&node), (height(2, 11), 0), "no token was sent");
}

#[test]
fn as_published_a_token_is_acknowledged_by_the_height_that_is_expected() {
    let mut node = without(repair::ACKNOWLEDGE);
    node.dag.neighbours[1].unacknowledged = 1;
    heard(&mut node, info(2, 7, Some(1)));
    assert_eq!(view(&node, 2), height(2, 2));
    heard(&mut node, info(2, 2, None));
    assert_eq!(node.dag.neighbours[1].unacknowledged, 0);
    let mut node = holding(asked(without(repair::ACKNOWLEDGE), &[2]));
    node.dag.neighbours[1].unacknowledged = 1;
    done(&mut node, Krl::give_token_to_next);
    assert_eq!(node.dag.neighbours[1].unacknowledged, 1, "one answer is all that is expected");
}

#[test]
fn a_height_that_changed_while_a_link_formed_is_told_again() {
    let formed = |changed| {
        let mut node = middle();
        assert_eq!(done(&mut node, |node, out| node.below(up(5), out)), ["link_info 5"]);
        if changed {
            node.dag.my_height = height(1, -3);
        }
        let said = heard(&mut node, info(5, -9, None));
        assert!(node.dag.is_neighbour(NodeId(5)));
        assert_eq!(heard(&mut node, info(5, -9, None)), [""; 0], "once");
        said
    };
    assert_eq!((formed(true), formed(false)), (["link_info 5".into()].into(), [].into()));
}

#[test]
fn a_waiter_that_has_gone_below_is_served_no_more_and_one_that_has_not_is() {
    let queued = |order| {
        let mut node = asked(middle(), &[2, 3]);
        heard(&mut node, info(2, order, None));
        queue(&node)
    };
    assert_eq!((queued(-1), queued(5)), ([3].into(), [2, 3].into()));
}

#[test]
fn a_node_that_learns_that_no_way_leads_on_or_none_leads_here_turns_links() {
    assert_eq!(heard(&mut middle(), info(0, 4, None)), ["link_info 0", "link_info 2", "link_info 3"]);
    assert_eq!(heard(&mut holding(middle()), info(0, 4, None)), [""; 0], "a holder needs no way on");
    let mut above = holding(highest(middle()));
    assert_eq!(heard(&mut above, info(2, -2, None)), ["link_info 2", "link_info 3"]);
    assert_eq!(heard(&mut highest(middle()), info(2, -2, None)), [""; 0], "others need no way in");
    let mut reroutes = asked(middle(), &[1]);
    reroutes.dag.neighbours[2].height = height(3, -1);
    assert_eq!(heard(&mut reroutes, info(0, 4, None)), ["request 3"]);
}

#[test]
fn a_failed_link_is_forgotten_with_the_request_that_came_over_it() {
    let fails = |node: &mut Krl, peer| done(node, |node, out| node.below(down(peer), out));
    let mut node = asked(middle(), &[2, 3]);
    assert_eq!(fails(&mut node, 2), [""; 0]);
    assert_eq!((queue(&node), node.dag.position(NodeId(2)), node.next), ([3].into(), None, Some(NodeId(0))));
    let mut node = asked(middle(), &[1]);
    node.dag.neighbours[2].height = height(3, 0);
    assert_eq!(fails(&mut node.clone(), 0), ["request 3"], "it goes another way");
    node.queue.clear();
    assert_eq!(fails(&mut node, 0), [""; 0], "it has nothing to ask for");
    assert_eq!(node.next, None);
    let mut published = without(repair::PENDING_REQUEST);
    published.dag.neighbours[2].height = height(3, 0);
    fails(&mut published, 0);
    assert_eq!(published.next, Some(NodeId(0)));
}

#[test]
fn after_a_failure_a_node_rises_a_holder_lowers_itself_and_as_published_others_do() {
    let fails = |mut node: Krl, peer| done(&mut node, |node, out| node.below(down(peer), out));
    assert_eq!(fails(middle(), 0), ["link_info 2", "link_info 3"]);
    assert_eq!(fails(holding(middle()), 0), [""; 0]);
    let only_one_above = |mut node: Krl| {
        node.dag.neighbours[1].height = height(2, 0);
        node
    };
    assert_eq!(fails(holding(only_one_above(middle())), 3), ["link_info 0", "link_info 2"]);
    assert_eq!(fails(only_one_above(middle()), 3), [""; 0]);
    assert_eq!(fails(holding(only_one_above(without(repair::HOLDER_LOWERS))), 3), [""; 0]);
    assert_eq!(fails(only_one_above(without(repair::HOLDER_LOWERS)), 3), ["link_info 0", "link_info 2"]);
    assert_eq!(fails(holding(middle()), 3), [""; 0], "there is a higher one");
    assert_eq!(fails(without(repair::HOLDER_LOWERS), 3), [""; 0]);
}

#[test]
fn a_pause_ends_when_a_token_comes_or_goes_or_a_link_changes() {
    let ends = |act: fn(&mut Krl, &mut Out<Krl>)| {
        let mut node = paused(middle());
        let disarmed = done(&mut node, act).iter().any(|what| what == "disarm");
        disarmed && !node.dag.pace.paused
    };
    assert!(ends(|node, out| node.message(NodeId(0), handed(0, 0, None), out)));
    assert!(ends(|node, out| node.message(NodeId(7), handed(7, 0, None), out)), "from a former neighbour");
    assert!(ends(|node, out| node.undelivered(NodeId(2), handed(1, 1, None), out)));
    assert!(ends(|node, out| node.below(down(2), out)));
    assert!(ends(|node, out| node.below(up(5), out)));
    assert!(!ends(|node, out| node.message(NodeId(2), info(2, 3, None), out)));
    assert!(ends(|node, out| {
        *node = asked(holding(node.clone()), &[2]);
        node.give_token_to_next(out);
    }));
}

#[test]
fn a_link_that_forms_ends_a_pause_and_the_reversal_that_waited_is_made() {
    let forms = |mut node: Krl| done(&mut node, |node, out| node.below(up(5), out));
    let risen = ["link_info 5", "disarm", "link_info 0", "link_info 2", "link_info 3", "request 2"];
    assert_eq!(forms(asked(paused(lowest(middle())), &[1])), risen);
    assert_eq!(forms(lowest(middle())), ["link_info 5"], "none had to wait");
    assert_eq!(forms(paused(holding(highest(middle())))), ["link_info 5", "disarm", "link_info 2", "link_info 3"]);
    assert_eq!(forms(paused(holding(lowest(middle())))), ["link_info 5", "disarm"], "a holder does not rise");
    assert_eq!(forms(paused(highest(middle()))), ["link_info 5", "disarm"], "and another does not lower itself");
}

#[test]
fn after_a_pause_all_links_are_turned_or_the_request_that_waited_is_sent() {
    let ends = |node: &mut Krl| done(node, |node, out| node.timer(Timer::Pace, out));
    let mut node = asked(paused(lowest(middle())), &[1]);
    assert_eq!(ends(&mut node), ["link_info 0", "link_info 2", "link_info 3", "request 2"]);
    assert_eq!((node.dag.my_height.h1, node.dag.pace.paused), (8, false));
    let mut needless = asked(paused(middle()), &[1]);
    needless.next = None;
    assert_eq!(ends(&mut needless), ["request 0"]);
    assert_eq!(heard(&mut needless, info(0, 4, None)), ["arm"], "the reversal is not saved up");
    assert_eq!(needless.next, None, "whom it asked is above it now");
}

#[test]
fn a_node_that_has_to_wait_with_a_reversal_asks_no_neighbour_unless_as_published() {
    let next = |mut node: Krl| {
        node.dag.end_turn();
        done(&mut node, Krl::raise_height);
        node.next
    };
    assert_eq!(next(lowest(middle())), None);
    assert_eq!(next(lowest(without(repair::PENDING_REQUEST))), Some(NodeId(0)));
}

#[test]
fn a_node_that_rises_deletes_those_that_are_below_it_now_and_asks_for_the_others() {
    let mut node = asked(lowest(middle()), &[2, 1, 0]);
    assert_eq!(done(&mut node, Krl::raise_height).last().unwrap(), "request 2");
    assert_eq!(queue(&node), [1, 0], "node 0 is above it still");
    let mut node = asked(lowest(middle()), &[2]);
    assert_eq!(done(&mut node, Krl::raise_height), ["link_info 0", "link_info 2", "link_info 3"]);
}

#[test]
fn a_node_that_is_alone_asks_none() {
    let mut node = asked(middle(), &[1]);
    node.dag.neighbours.clear();
    assert_eq!(done(&mut node, Krl::forward_request), [""; 0]);
    assert_eq!(node.next, None);
}

/// All three are above when it has lowered itself; node 3 was told so already.
#[test]
fn a_node_that_lowers_itself_tells_those_whose_links_turn_and_as_published_those_that_are_above() {
    let lowers = |repairs| {
        let mut node = Krl { repairs, ..highest(middle()) };
        node.dag.neighbours[2].told = height(1, -5);
        done(&mut node, Krl::lower_height)
    };
    assert_eq!(lowers(Repairs::ALL), ["link_info 2"]);
    assert_eq!(lowers(Repairs::ALL.without(repair::LINK_INFO)), ["link_info 2", "link_info 3"]);
}

#[test]
fn a_token_that_comes_back_is_kept_and_can_be_reached_unless_as_published() {
    let back = |node: &mut Krl| done(node, |node, out| node.undelivered(NodeId(2), handed(1, 1, None), out));
    let mut node = middle();
    assert_eq!(back(&mut node), [""; 0]);
    assert_eq!((node.idle.len(), node.dag.my_height), (1, height(1, 1)));
    assert_eq!(back(&mut highest(middle())), ["link_info 2", "link_info 3"]);
    assert_eq!(back(&mut asked(highest(middle()), &[2])), ["token 2"], "it has gone on");
    let mut published = without(repair::RECLAIM);
    assert_eq!((back(&mut published), published.idle.len()), ([].into(), 0));
    let request = done(&mut node, |node, out| node.undelivered(NodeId(2), request(1, 1), out));
    assert_eq!((request.len(), node.idle.len()), (0, 1), "nothing but tokens comes back");
}

#[test]
fn a_holder_to_which_its_token_came_late_goes_below_all_its_neighbours_before_it_serves_any() {
    let mut node = asked(middle(), &[3]);
    assert_eq!(heard(&mut node, handed(9, 5, None)), ["link_info 0", "token 3"], "2 and 3 are higher as it is");
    assert_eq!(node.dag.my_height.h1, -1);
    let mut lowest = lowest(middle());
    assert_eq!((heard(&mut lowest, handed(9, 5, None)).len(), lowest.dag.my_height), (0, height(1, 1)));
    let mut published = without(repair::RECLAIM);
    assert_eq!((heard(&mut published, handed(9, 5, None)).len(), published.dag.my_height), (0, height(1, 1)));
}

#[test]
fn a_neighbour_that_speaks_of_another_nodes_height_is_not_listened_to() {
    let mut node = middle();
    assert_eq!(done(&mut node, |node, out| node.message(NodeId(2), request(3, 2), out)), [""; 0]);
    assert!(node.queue.is_empty());
}

#[test]
fn a_message_tells_the_height_that_it_is_sent_under() {
    let mut node = middle();
    node.dag.my_height = height(1, -3);
    done(&mut node, |node, out| node.send(1, request(1, -3), out));
    assert_eq!([1, 2].map(|at| node.dag.neighbours[at].told), [height(1, -3), height(1, 1)]);
}

#[test]
fn a_holder_has_a_token_whether_it_uses_it_or_not_and_none_survives_a_crash() {
    assert_eq!([middle(), holding(middle()), using(middle())].map(|node| node.has_token()), [false, true, true]);
    assert_eq!([request(1, 1), handed(1, 1, None)].map(|message| Krl::is_token(&message)), [false, true]);
    assert!(!Krl::is_ready_for_crash(&Moment { nodes: [].into(), flights: [].into() }));
}

#[test]
fn a_status_tells_who_waits_for_whom() {
    let of = |node: Krl| (node.status().queue, node.status().waits_on);
    assert_eq!(of(asked(middle(), &[3, 2])), ([3, 2].map(NodeId).into(), Some(NodeId(0))));
    assert_eq!(of(middle()), ([].into(), None));
    assert_eq!(of(asked(using(middle()), &[2])), ([NodeId(2)].into(), None));
}
