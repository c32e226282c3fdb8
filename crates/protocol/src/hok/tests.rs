//! One node at a time: what it says and does about what it hears.

use alloc::format;
use alloc::vec;

use super::*;
use crate::{Effect, Fence, Incarnation, Outbox, Priority};

/// Node 1 of a star, the middle of it: node 0, which holds the token, is below it, nodes 2 and 3 are above. Two units.
fn middle_with(policy: Policy, repairs: Repairs) -> Hok {
    let links = [(0, 1), (1, 2), (1, 3)].map(|(a, b)| (NodeId(a), NodeId(b))).into();
    let deployment = Deployment { nodes: 4, k: 2, links, ..Deployment::default() };
    Hok::deploy(&deployment, Variant::new(policy), repairs).swap_remove(1)
}

fn middle(repairs: Repairs) -> Hok {
    middle_with(Policy::Priority, repairs)
}

/// Likewise, and these have asked, with these priorities; node 0 was told.
fn asked(repairs: Repairs, requests: &[(u32, u32)]) -> Hok {
    let mut node = middle(repairs);
    for &(from, priority) in requests {
        node.queue.put(NodeId(from), rank(priority));
    }
    node.told = node.queue.front().map(|front| front.rank);
    node
}

/// Likewise, and it has the token with both units.
fn holder(repairs: Repairs, requests: &[(u32, u32)]) -> Hok {
    let mut node = asked(repairs, requests);
    (node.token, node.next, node.told) = (Some(token()), Some(node.id), None);
    node
}

/// Likewise, and it waits itself, for this many units, before all others.
fn waiting(mut node: Hok, units: u32) -> Hok {
    (node.state, node.wanted) = (Section::Waiting, Units::new(units));
    node.queue.put(node.id, rank(9));
    node
}

fn token() -> Token {
    Token { free: Permits::first(2), fence: Fence::default() }
}

fn unit(number: u8) -> Permits {
    Permits::single(number.try_into().unwrap())
}

/// Of a request with this priority.
fn rank(priority: u32) -> Rank {
    Policy::Priority.rank(Demand { priority: Priority(priority), ..Demand::ONE }, Grants::default())
}

/// Of another node; node 1 stands at order 1 of level 0.
fn height(id: u32, order: i64) -> Height {
    Height::new(0, order, NodeId(id))
}

/// Where node 1 takes another one to stand.
fn view(node: &Hok, id: u32) -> Height {
    node.dag.neighbours[node.dag.position(NodeId(id)).unwrap()].height
}

fn request(from: u32, order: i64, priority: u32) -> Message {
    Message::Request { height: height(from, order), grants: Grants::default(), rank: rank(priority) }
}

fn update(from: u32, priority: u32) -> Message {
    Message::Update { height: height(from, 2), grants: Grants::default(), rank: rank(priority) }
}

fn link(from: u32, order: i64, acknowledges: Option<NodeId>) -> Message {
    Message::Link { height: height(from, order), grants: Grants::default(), acknowledges }
}

fn release(from: u32, permits: Permits) -> Message {
    Message::Release { height: height(from, 2), grants: Grants::default(), permits }
}

fn handed(from: u32, order: i64, asks: Option<Rank>) -> Message {
    Message::Token { height: height(from, order), grants: Grants::default(), token: token(), asks }
}

fn up(peer: u32) -> LinkEvent {
    LinkEvent::Up { peer: NodeId(peer), incarnation: Incarnation(7) }
}

fn down(peer: u32) -> LinkEvent {
    LinkEvent::Down { peer: NodeId(peer), incarnation: Incarnation(7) }
}

fn effects(node: &mut Hok, act: impl FnOnce(&mut Hok, &mut Out<Hok>)) -> Vec<Effect<Message, Timer>> {
    let mut out = Outbox::with_clauses();
    act(node, &mut out);
    out.drain().collect()
}

/// What it does, in short, and to which node.
fn done(node: &mut Hok, act: impl FnOnce(&mut Hok, &mut Out<Hok>)) -> Vec<String> {
    let brief = |effect| match effect {
        Effect::Send { to, message, .. } => Some(format!("{} {to}", Hok::KINDS[Hok::kind(&message)])),
        Effect::Clause(_) => None,
        Effect::Grant(_) => Some("grant".into()),
        Effect::Arm { .. } => Some("arm".into()),
        Effect::Disarm { .. } => Some("disarm".into()),
        other => Some(format!("{other:?}")),
    };
    effects(node, act).into_iter().filter_map(brief).collect()
}

fn heard(node: &mut Hok, message: Message) -> Vec<String> {
    let from = message.height().id;
    done(node, |node, out| node.message(from, message, out))
}

/// The messages to one node.
fn told(node: &mut Hok, to: u32, act: impl FnOnce(&mut Hok, &mut Out<Hok>)) -> Vec<Message> {
    let message = |effect| match effect {
        Effect::Send { to: receiver, message, .. } if receiver == NodeId(to) => Some(message),
        _ => None,
    };
    effects(node, act).into_iter().filter_map(message).collect()
}

fn clauses(node: &mut Hok, message: Message) -> Vec<&'static str> {
    let clause = |effect| if let Effect::Clause(clause) = effect { Some(clause) } else { None };
    let from = message.height().id;
    effects(node, |node, out| node.message(from, message, out)).into_iter().filter_map(clause).collect()
}

/// Node 1 while it waits with a reversal, all its neighbours being higher; node 0 is on a level far above.
fn paused(repairs: Repairs) -> Hok {
    let mut node = middle(repairs);
    node.dag.neighbours[0].height = Height::new(7, 0, NodeId(0));
    (node.dag.pace.paused, node.next) = (true, None);
    node
}

#[test]
fn the_first_request_is_passed_on_and_of_the_next_ones_only_their_rank() {
    let mut node = middle(Repairs::ALL);
    assert_eq!(heard(&mut node, request(2, 2, 1)), ["request 0"]);
    assert_eq!(heard(&mut node, request(3, 2, 5)), ["update 0"]);
    assert_eq!(node.told, Some(rank(5)));
    assert_eq!(heard(&mut node, request(2, 2, 2)), [""; 0], "the front is the same");
}

#[test]
fn a_request_of_a_lower_node_counts_for_nothing_but_its_height() {
    for repairs in [Repairs::ALL, Repairs::ALL.without(repair::UPDATE_FRONT)] {
        let mut node = middle(repairs);
        assert_eq!(heard(&mut node, request(0, -3, 1)), [""; 0]);
        assert_eq!((node.queue.len(), view(&node, 0)), (0, height(0, -3)));
    }
}

#[test]
fn a_request_counts_for_nothing_while_the_token_is_on_its_way_to_its_sender() {
    let mut node = middle(Repairs::ALL);
    node.dag.neighbours[1].unacknowledged = 1;
    assert_eq!(heard(&mut node, request(2, 3, 1)), [""; 0]);
    assert_eq!((node.queue.len(), view(&node, 2)), (0, height(2, 2)));
}

#[test]
fn a_change_of_the_front_is_an_update_of_ours_or_as_published_one_of_the_papers() {
    let overtakes = |repairs| clauses(&mut asked(repairs, &[(2, 5), (3, 1)]), update(3, 9));
    assert_eq!(overtakes(Repairs::ALL), ["recv-update.1", "update"]);
    assert_eq!(overtakes(Repairs::ALL.without(repair::UPDATE_FRONT)), ["recv-update.1", "recv-update.2"]);
    let mut node = middle(Repairs::ALL);
    assert_eq!(clauses(&mut node, update(3, 9)), [""; 0], "it has not asked");
}

#[test]
fn a_holder_that_waits_gives_way_to_a_more_urgent_request() {
    let node = |repairs| waiting(holder(repairs, &[(2, 1)]), 3);
    assert_eq!(heard(&mut node(Repairs::ALL), update(2, 20)), ["token 2"]);
    assert_eq!(heard(&mut node(Repairs::ALL), update(2, 5)), [""; 0], "it is in front still");
    assert_eq!(heard(&mut node(Repairs::ALL.without(repair::KEEP_OWN)), update(2, 20)), [""; 0]);
}

#[test]
fn a_holder_that_waits_has_nobody_to_tell_who_is_in_front() {
    let waits = ["recv-request.2", "recv-request.3", "recv-request.4", "give-token.1", "give-token.2", "give-token.4"];
    assert_eq!(clauses(&mut waiting(holder(Repairs::ALL, &[]), 3), request(2, 2, 1)), waits);
}

#[test]
fn as_published_a_release_ages_the_requests_that_wait_here_and_next_is_told() {
    let node = |repairs| {
        let mut node = asked(repairs, &[(2, 5)]);
        (node.state, node.in_use) = (Section::Critical, unit(0));
        node
    };
    let mut published = node(Repairs::ALL.without(repair::AGE_BY_GRANTS));
    assert_eq!(done(&mut published, Protocol::release), ["release 0", "update 0"]);
    assert_eq!((published.queue.rank_of(NodeId(2)), published.told), (Some(rank(6)), Some(rank(6))));
    let mut repaired = node(Repairs::ALL);
    assert_eq!(done(&mut repaired, Protocol::release), ["release 0"]);
    assert_eq!((repaired.state, repaired.in_use), (Section::Remainder, Permits::NONE));
    assert_eq!(repaired.queue.rank_of(NodeId(2)), Some(rank(5)));
}

#[test]
fn without_aging_a_release_makes_no_request_more_urgent_even_as_published() {
    let mut node = middle_with(Policy::Strict, Repairs::ALL.without(repair::AGE_BY_GRANTS));
    node.queue.put(NodeId(2), rank(5));
    (node.state, node.in_use, node.told) = (Section::Critical, unit(0), Some(rank(5)));
    assert_eq!(done(&mut node, Protocol::release), ["release 0"]);
}

#[test]
fn a_release_is_passed_on_or_joins_the_token() {
    let mut node = middle(Repairs::ALL);
    assert_eq!(heard(&mut node, release(2, unit(0))), ["release 0"]);
    let mut node = holder(Repairs::ALL, &[]);
    node.token = Some(Token { free: unit(0), ..token() });
    assert_eq!(heard(&mut node, release(2, unit(1))), [""; 0]);
    assert_eq!(node.token, Some(token()));
}

#[test]
fn a_holder_that_waits_enters_when_enough_units_have_come() {
    for repairs in [Repairs::ALL, Repairs::ALL.without(repair::KEEP_OWN)] {
        let mut node = waiting(holder(repairs, &[]), 2);
        node.token = Some(Token { free: Permits::NONE, ..token() });
        if !repairs.has(repair::KEEP_OWN) {
            node.queue.delete(node.id);
        }
        assert_eq!(heard(&mut node, release(2, unit(0))), [""; 0]);
        assert_eq!(heard(&mut node, release(2, unit(1))), ["grant"]);
        assert_eq!((node.state, node.in_use, node.wanted), (Section::Critical, Permits::first(2), None));
        assert!(node.queue.is_empty() && node.token.unwrap().free.is_empty());
    }
}

/// Its own request is in Q, and it would have to be dequeued first: the paper's wait is not going on.
#[test]
fn as_published_a_release_wakes_none_but_a_holder_that_waits_for_it() {
    let published = Repairs::ALL.without(repair::KEEP_OWN);
    let mut node = waiting(holder(published, &[]), 1);
    assert_eq!(heard(&mut node, release(2, unit(0))), [""; 0]);
    let mut node = holder(published, &[]);
    assert_eq!(heard(&mut node, release(2, unit(0))), [""; 0], "it wants nothing");
}

#[test]
fn a_node_that_gets_the_token_goes_below_its_sender_and_tells_all() {
    let mut node = Hok { told: Some(rank(5)), ..middle(Repairs::ALL) };
    let link = told(&mut node, 2, |node, out| node.message(NodeId(0), handed(0, -4, None), out));
    assert_eq!((node.dag.my_height, view(&node, 0)), (height(1, -5), height(0, -4)));
    assert_eq!((node.token, node.next, node.told), (Some(token()), Some(NodeId(1)), None));
    let grants = Grants::default();
    assert_eq!(link, [Message::Link { height: height(1, -5), grants, acknowledges: Some(NodeId(0)) }]);
    let mut high = middle(Repairs::ALL);
    assert_eq!(heard(&mut high, handed(2, 9, None)), ["link 0", "link 2", "link 3"]);
    assert_eq!(high.dag.my_height, height(1, 1), "it stands below it already");
}

#[test]
fn a_token_that_asks_goes_back_when_no_other_request_is_more_urgent() {
    let mut node = middle(Repairs::ALL);
    assert_eq!(heard(&mut node, handed(0, 0, Some(rank(1)))), ["link 0", "link 2", "link 3", "token 0"]);
    let mut node = asked(Repairs::ALL, &[(2, 5)]);
    assert_eq!(heard(&mut node, handed(0, 0, Some(rank(1)))).last().unwrap(), "token 2");
}

#[test]
fn units_that_were_kept_join_a_token_that_comes() {
    let mut node = middle(Repairs::ALL);
    node.released = unit(1);
    let token = Token { free: unit(0), ..token() };
    let message = Message::Token { height: height(0, 0), grants: Grants::default(), token, asks: None };
    heard(&mut node, message);
    assert_eq!((node.token.unwrap().free, node.released), (Permits::first(2), Permits::NONE));
}

#[test]
fn a_node_that_hands_the_token_over_says_in_it_what_it_wants_or_as_published_behind_it() {
    let given = |repairs, requests: &[_]| {
        let mut node = holder(repairs, requests);
        let messages = told(&mut node, 2, Hok::give_token_to_front);
        assert_eq!((node.token, node.next, node.told), (None, Some(NodeId(2)), messages_ask(&messages)));
        assert_eq!((view(&node, 2), node.queue.contains(NodeId(2))), (height(2, 0), false));
        messages
    };
    let (height, grants, token) = (height(1, 1), Grants::default(), token());
    let token = |asks| Message::Token { height, grants, token, asks };
    assert_eq!(given(Repairs::ALL, &[(2, 5), (3, 1)]), [token(Some(rank(1)))]);
    assert_eq!(given(Repairs::ALL, &[(2, 5)]), [token(None)]);
    let published = Repairs::ALL.without(repair::TOKEN_ASKS);
    let request = Message::Request { height, grants, rank: rank(1) };
    assert_eq!(given(published, &[(2, 5), (3, 1)]), [token(None), request]);
    assert_eq!(given(published, &[(2, 5)]), [token(None)]);
}

/// What these messages ask for.
fn messages_ask(messages: &[Message]) -> Option<Rank> {
    messages.iter().find_map(|message| match message {
        Message::Token { asks, .. } => *asks,
        Message::Request { rank, .. } => Some(*rank),
        _ => None,
    })
}

#[test]
fn a_neighbour_that_was_handed_the_token_owes_an_acknowledgement_unless_as_published() {
    let owed = |repairs| {
        let mut node = holder(repairs, &[(2, 5)]);
        done(&mut node, Hok::give_token_to_front);
        node.dag.neighbours[1].unacknowledged
    };
    assert_eq!((owed(Repairs::ALL), owed(Repairs::ALL.without(repair::RECEIVED_LINK))), (1, 0));
}

#[test]
fn a_node_that_enters_takes_what_it_wants_and_passes_the_token_on() {
    let mut node = waiting(holder(Repairs::ALL, &[(3, 1)]), 1);
    node.next = None;
    assert_eq!(done(&mut node, Hok::give_token_to_front), ["grant", "token 3"]);
    assert_eq!((node.in_use, node.grants), (unit(0), Grants::default().next()));
    let mut last = waiting(holder(Repairs::ALL, &[]), 1);
    last.next = None;
    assert_eq!(done(&mut last, Hok::give_token_to_front), ["grant"]);
    assert_eq!(last.next, Some(last.id), "the token is here");
    assert_eq!(last.token, Some(Token { free: unit(1), fence: Fence::default().next() }));
}

#[test]
fn grants_are_counted_only_where_they_make_requests_older() {
    let counted = |policy, repairs| {
        let mut node = waiting(holder(repairs, &[]), 1);
        node.policy = policy;
        heard(&mut node, Message::Update { height: height(2, 2), grants: Grants::default().next(), rank: rank(0) });
        let heard = node.grants;
        done(&mut node, Hok::give_token_to_front);
        assert_eq!(node.state, Section::Critical);
        (heard > Grants::default(), node.grants > heard)
    };
    assert_eq!(counted(Policy::Priority, Repairs::ALL), (true, true));
    assert_eq!(counted(Policy::Priority, Repairs::ALL.without(repair::AGE_BY_GRANTS)), (false, false));
    assert_eq!(counted(Policy::Strict, Repairs::ALL), (false, false));
}

#[test]
fn a_waiter_that_has_gone_below_is_served_no_more_and_one_that_has_not_is() {
    let queued = |order| {
        let mut node = asked(Repairs::ALL, &[(2, 5), (3, 1)]);
        heard(&mut node, link(2, order, None));
        node.queue.entries().iter().map(|entry| entry.node.0).collect::<Vec<_>>()
    };
    assert_eq!(queued(-1), [3]);
    assert_eq!(queued(5), [2, 3]);
    let mut node = asked(Repairs::ALL, &[(3, 1)]);
    heard(&mut node, link(2, -1, None));
    assert!(node.queue.contains(NodeId(3)));
}

#[test]
fn what_a_neighbour_says_of_its_height_counts_when_it_has_acknowledged_the_token() {
    let mut node = middle(Repairs::ALL);
    node.dag.neighbours[1].unacknowledged = 2;
    heard(&mut node, link(2, 7, None));
    heard(&mut node, link(2, 8, Some(NodeId(3))));
    assert_eq!((view(&node, 2), node.dag.neighbours[1].unacknowledged), (height(2, 2), 2));
    heard(&mut node, link(2, 9, Some(NodeId(1))));
    assert_eq!((view(&node, 2), node.dag.neighbours[1].unacknowledged), (height(2, 2), 1));
    heard(&mut node, link(2, 10, Some(NodeId(1))));
    assert_eq!((view(&node, 2), node.dag.neighbours[1].unacknowledged), (height(2, 10), 0));
    heard(&mut node, link(2, 11, Some(NodeId(1))));
    assert_eq!((view(&node, 2), node.dag.neighbours[1].unacknowledged), (height(2, 11), 0), "no token was sent");
}

#[test]
fn a_height_that_changed_while_a_link_formed_is_told_again() {
    let formed = |repairs, changed| {
        let mut node = middle(repairs);
        assert_eq!(done(&mut node, |node, out| node.below(up(5), out)), ["link 5"]);
        if changed {
            node.dag.my_height = height(1, -3);
        }
        let said = heard(&mut node, link(5, -9, None));
        assert!(node.dag.is_neighbour(NodeId(5)));
        assert_eq!(heard(&mut node, link(5, -9, None)), [""; 0], "once");
        said
    };
    assert_eq!(formed(Repairs::ALL, true), ["link 5"]);
    assert_eq!(formed(Repairs::ALL, false), [""; 0]);
    assert_eq!(formed(Repairs::ALL.without(repair::FORMING), true), [""; 0]);
}

#[test]
fn a_request_goes_another_way_when_the_link_that_it_went_turns() {
    let turned = |requests: &[_]| {
        let mut node = asked(Repairs::ALL, requests);
        node.dag.neighbours[1].height = height(2, 0);
        node
    };
    assert_eq!(heard(&mut turned(&[(3, 1)]), link(0, 4, None)), ["request 2"]);
    assert_eq!(clauses(&mut turned(&[]), link(0, 4, None)), ["recv-link.1"], "it has nothing to ask for");
}

#[test]
fn without_a_lower_neighbour_a_node_rises_and_asks_the_lowest_unless_it_holds_the_token() {
    let mut node = waiting(asked(Repairs::ALL, &[(2, 5), (3, 1)]), 1);
    assert_eq!(heard(&mut node, link(0, 4, None)), ["link 0", "link 2", "link 3", "request 2"]);
    assert_eq!(node.queue.len(), 1, "it stands above those who asked");
    assert_eq!((node.next, node.told), (Some(NodeId(2)), Some(rank(9))));
    let mut node = middle(Repairs::ALL);
    assert_eq!(heard(&mut node, link(0, 4, None)), ["link 0", "link 2", "link 3"], "it has nothing to ask for");
    let mut node = paused(Repairs::ALL);
    for neighbour in [0, 2] {
        node.queue.put(NodeId(neighbour), rank(1));
    }
    done(&mut node, Hok::raise_height);
    assert!(node.queue.contains(NodeId(0)) && !node.queue.contains(NodeId(2)), "node 0 is above it still");
    let mut node = holder(Repairs::ALL, &[]);
    assert_eq!(heard(&mut node, link(0, 4, None)), [""; 0]);
}

#[test]
fn when_the_link_to_the_front_fails_next_is_told_who_is_in_front_now() {
    let mut node = asked(Repairs::ALL, &[(2, 5), (3, 1)]);
    assert_eq!(done(&mut node, |node, out| node.below(down(2), out)), ["update 0"]);
    assert_eq!((node.told, node.queue.len()), (Some(rank(1)), 1));
}

#[test]
fn a_node_that_loses_its_last_lower_neighbour_rises_and_sends_on_the_units_that_it_keeps() {
    let mut node = waiting(middle(Repairs::ALL), 1);
    node.released = unit(0);
    assert_eq!(done(&mut node, |node, out| node.below(down(0), out)), ["link 2", "link 3", "request 2", "release 2"]);
    assert_eq!(node.released, Permits::NONE);
}

#[test]
fn a_next_hop_that_is_gone_is_next_no_more_and_every_other_one_is() {
    let next = |repairs, lost| {
        let mut node = middle(repairs);
        // There is another way down, so that it does not rise.
        node.dag.neighbours[2].height = height(3, 0);
        done(&mut node, |node, out| node.below(down(lost), out));
        node.next
    };
    assert_eq!(next(Repairs::ALL, 0), None);
    assert_eq!(next(Repairs::ALL, 2), Some(NodeId(0)));
    assert_eq!(next(Repairs::ALL.without(repair::PENDING_REQUEST), 0), Some(NodeId(0)));
}

#[test]
fn a_pause_ends_when_the_token_comes_or_a_link_changes() {
    let ends = |act: fn(&mut Hok, &mut Out<Hok>)| {
        let mut node = middle(Repairs::ALL);
        node.dag.pace.paused = true;
        let disarmed = done(&mut node, act).iter().any(|what| what == "disarm");
        disarmed && !node.dag.pace.paused
    };
    assert!(ends(|node, out| node.message(NodeId(0), handed(0, 0, None), out)));
    assert!(ends(|node, out| node.message(NodeId(7), handed(7, 0, None), out)), "from a former neighbour");
    assert!(ends(|node, out| node.undelivered(NodeId(2), handed(1, 1, None), out)));
    assert!(ends(|node, out| node.below(down(2), out)));
    assert!(ends(|node, out| node.below(up(5), out)));
    assert!(!ends(|node, out| node.message(NodeId(2), link(2, 3, None), out)));
}

/// A node that could reverse no more, and has given the token away since, may reverse links again.
#[test]
fn a_node_that_gives_the_token_away_is_patient_again() {
    let mut node = holder(Repairs::ALL, &[(2, 5)]);
    node.dag.end_turn();
    done(&mut node, Hok::give_token_to_front);
    node.dag.fail(NodeId(2));
    node.dag.neighbours[0].height = height(0, 4);
    assert_eq!(done(&mut node, Hok::raise_height), ["link 0", "link 3"]);
}

#[test]
fn a_link_that_forms_ends_a_pause_and_the_reversal_that_waited_is_made() {
    let mut node = waiting(paused(Repairs::ALL), 1);
    let formed = done(&mut node, |node, out| node.below(up(5), out));
    assert_eq!(formed, ["link 5", "disarm", "link 0", "link 2", "link 3", "request 2"]);
    assert_eq!(node.dag.my_height.h1, 1, "a partial one");
    let mut node = middle(Repairs::ALL);
    node.dag.neighbours[0].height = height(0, 4);
    assert_eq!(done(&mut node, |node, out| node.below(up(5), out)), ["link 5"], "none had to wait");
}

#[test]
fn after_a_pause_all_links_are_turned_and_what_waited_goes_on() {
    let mut node = waiting(paused(Repairs::ALL), 1);
    node.released = unit(0);
    let turned = done(&mut node, |node, out| node.timer(Timer::Pace, out));
    assert_eq!(turned, ["link 0", "link 2", "link 3", "request 2", "release 2"]);
    assert_eq!((node.dag.my_height.h1, node.dag.pace.paused, node.released), (8, false, Permits::NONE));
}

#[test]
fn after_a_pause_a_reversal_that_is_needed_no_more_is_not_made_nor_saved_up() {
    let mut node = waiting(paused(Repairs::ALL), 1);
    node.dag.neighbours[2].height = height(3, 0);
    assert_eq!(done(&mut node, |node, out| node.timer(Timer::Pace, out)), ["request 3"]);
    assert_eq!(heard(&mut node, link(3, 5, None)), ["arm"]);
    assert_eq!(node.next, None, "whom it asked is above it now");
}

#[test]
fn a_holder_turns_no_links_after_a_pause() {
    let mut node = holder(Repairs::ALL, &[]);
    node.dag.neighbours[0].height = height(0, 4);
    assert_eq!(done(&mut node, |node, out| node.timer(Timer::Pace, out)), [""; 0]);
}

#[test]
fn a_node_that_has_to_wait_with_a_reversal_asks_no_neighbour_unless_as_published() {
    let next = |repairs: Repairs| {
        let mut node = paused(repairs);
        node.dag.end_turn();
        node.next = Some(NodeId(0));
        done(&mut node, Hok::raise_height);
        node.next
    };
    assert_eq!(next(Repairs::ALL), None);
    assert_eq!(next(Repairs::ALL.without(repair::PENDING_REQUEST)), Some(NodeId(0)));
}

#[test]
fn units_go_downhill_or_are_kept_and_as_published_go_uphill_and_turn_next_round() {
    let mut node = paused(Repairs::ALL);
    node.released = unit(1);
    assert_eq!(done(&mut node, |node, out| node.forward_release(unit(0), out)), [""; 0]);
    assert_eq!((node.released, node.next), (Permits::first(2), None));
    let mut node = paused(Repairs::ALL.without(repair::KEEP_RELEASE));
    assert_eq!(done(&mut node, |node, out| node.forward_release(unit(0), out)), ["release 2"]);
    assert_eq!((node.released, node.next), (Permits::NONE, None));
    let mut node = paused(Repairs::ALL.without(repair::RELEASE_ASIDE));
    node.dag.neighbours[2].height = height(3, 0);
    done(&mut node, |node, out| node.forward_release(unit(0), out));
    assert_eq!(node.next, Some(NodeId(3)));
}

#[test]
fn a_request_goes_downhill_or_waits_and_as_published_goes_uphill() {
    let mut node = waiting(paused(Repairs::ALL), 1);
    node.next = Some(NodeId(0));
    assert_eq!(done(&mut node, Hok::forward_request), [""; 0]);
    assert_eq!((node.next, node.told), (None, None), "it asks nobody");
    let mut node = waiting(paused(Repairs::ALL.without(repair::PENDING_REQUEST)), 1);
    assert_eq!(done(&mut node, Hok::forward_request), ["request 2"]);
}

#[test]
fn a_request_that_has_no_way_is_sent_when_there_is_one() {
    let mut node = waiting(middle(Repairs::ALL), 1);
    node.next = None;
    assert_eq!(heard(&mut node, link(2, 3, None)), ["request 0"]);
    let mut published = waiting(middle(Repairs::ALL.without(repair::PENDING_REQUEST)), 1);
    published.next = None;
    assert_eq!(heard(&mut published, link(2, 3, None)), [""; 0], "it is forgotten");
}

/// Node 3 was a neighbour, and a link to it forms again; its height is not known yet.
#[test]
fn a_neighbour_whose_height_is_not_known_is_told_nothing_of_the_front() {
    let mut node = asked(Repairs::ALL, &[(2, 5)]);
    node.dag.neighbours[2].known = false;
    node.next = Some(NodeId(3));
    assert_eq!(done(&mut node, |node, out| node.update(rank(7), out)), [""; 0]);
    assert_eq!(node.told, Some(rank(5)), "it will be told when it is known");
}

#[test]
fn a_height_that_goes_with_a_release_or_an_update_is_not_known_to_have_been_told() {
    let told = |message: Message| {
        let mut node = middle(Repairs::ALL);
        node.dag.my_height = height(1, -3);
        done(&mut node, |node, out| node.send(1, |_, _| message, out));
        node.dag.neighbours[1].told
    };
    assert_eq!([told(release(1, unit(0))), told(update(1, 1))], [height(1, 1); 2]);
    assert_eq!([told(request(1, -3, 1)), told(handed(1, -3, None)), told(link(1, -3, None))], [height(1, -3); 3]);
}

#[test]
fn a_neighbour_that_speaks_of_another_nodes_height_is_not_listened_to() {
    let mut node = middle(Repairs::ALL);
    assert_eq!(done(&mut node, |node, out| node.message(NodeId(2), request(3, 2, 1), out)), [""; 0]);
    assert!(node.queue.is_empty());
}

#[test]
fn what_comes_back_is_kept_or_goes_another_way_unless_as_published() {
    let mut node = middle(Repairs::ALL);
    assert_eq!(done(&mut node, |node, out| node.undelivered(NodeId(2), release(1, unit(0)), out)), ["release 0"]);
    done(&mut node, |node, out| node.undelivered(NodeId(2), handed(1, 1, None), out));
    assert_eq!((node.token, node.next, node.dag.my_height), (Some(token()), Some(NodeId(1)), height(1, 1)));
    let mut published = middle(Repairs::ALL.without(repair::RECLAIM));
    assert_eq!(done(&mut published, |node, out| node.undelivered(NodeId(2), release(1, unit(0)), out)), [""; 0]);
}

#[test]
fn a_holder_to_which_the_token_came_late_goes_below_all_its_neighbours_before_it_serves_any() {
    let mut node = asked(Repairs::ALL, &[(3, 1)]);
    let told = done(&mut node, |node, out| node.message(NodeId(9), handed(9, 5, None), out));
    assert_eq!(told, ["link 0", "link 2", "link 3", "token 3"]);
    assert_eq!((node.dag.my_height.h1, node.sinks), (-1, false), "the next holder was led to");
    let mut alone = middle(Repairs::ALL);
    alone.dag.neighbours.clear();
    alone.dag.my_height.h1 = 250;
    done(&mut alone, |node, out| node.message(NodeId(9), handed(9, 5, None), out));
    done(&mut alone, |node, out| node.below(up(2), out));
    assert_eq!(done(&mut alone, |node, out| node.message(NodeId(2), link(2, 7, None), out)), ["link 2"]);
    assert_eq!(alone.dag.my_height.h1, -1, "it goes below those that come later, too");
    let mut published = middle(Repairs::ALL.without(repair::RECLAIM));
    done(&mut published, |node, out| node.message(NodeId(9), handed(9, 5, None), out));
    assert_eq!((published.token, published.dag.my_height), (None, height(1, 1)));
}

#[test]
fn a_status_tells_who_waits_for_whom() {
    let of = |node: Hok| (node.status().queue, node.status().waits_on);
    assert_eq!(of(asked(Repairs::ALL, &[(3, 1), (2, 5)])), (vec![NodeId(2), NodeId(3)], Some(NodeId(0))));
    assert_eq!(of(middle(Repairs::ALL)), (vec![], None));
    assert_eq!(of(waiting(holder(Repairs::ALL, &[]), 1)), (vec![NodeId(1)], None));
}
