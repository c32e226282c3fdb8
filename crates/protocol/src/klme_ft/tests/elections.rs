//! How a node stands, votes and begins to lead.

use alloc::vec;

use crate::{Demand, Effect, Permits, Protocol, Repairs, Stay};

use super::*;

/// The number under which a node stands that knows of node 0 alone.
fn second(id: u32) -> LeaderNo {
    LeaderNo { counter: 2, stay: Stay(id.into()) }
}

fn silence(node: &mut KlmeFt) -> Effects {
    done(|out| node.timer(Timer::Silence, out))
}

fn stand(number: LeaderNo, relieves: Option<LeaderNo>) -> Message {
    Message::Stand { number, holders: [0, 1, 2].map(member).to_vec(), relieves }
}

/// Node 1 asks the two others for their votes.
fn asks(number: LeaderNo, relieves: Option<LeaderNo>) -> Effects {
    vec![send(0, stand(number, relieves)), again(2, stand(number, relieves)), arm(Timer::Silence, BOND)]
}

/// Node 1, which stands because it heard nothing of node 0 any more.
fn candidate_with(rules: Repairs) -> KlmeFt {
    let mut node = follower_with(1, rules);
    silence(&mut node);
    node
}

fn candidate() -> KlmeFt {
    candidate_with(Repairs::ALL)
}

fn vote(from: u32, number: LeaderNo, copy: Option<Copy>) -> Message {
    Message::Vote { stay: Stay(from.into()), number, copy }
}

#[test]
fn a_copy_holder_that_hears_nothing_is_bound_no_more_and_stands() {
    let mut node = follower(1);
    assert!(node.chair.promise.is_bound());
    assert_eq!(silence(&mut node), asks(second(1), None));
    assert!(!node.chair.promise.is_bound());
    assert_eq!(silence(&mut node), asks(second(1), None), "once more, under the same number");
    node.chair.promise.vote(second(2));
    assert_eq!(silence(&mut node), asks(LeaderNo { counter: 3, stay: Stay(1) }, None), "that number is taken");
}

#[test]
fn silence_means_nothing_to_a_node_that_rests() {
    let mut node = follower(1);
    node.chair.rests = true;
    assert_eq!(silence(&mut node), []);
    assert!(node.chair.rests && !node.chair.promise.is_bound());
}

#[test]
fn a_leader_that_loses_its_majority_stands_again() {
    let mut leader = awake();
    let number = FIRST.next(Stay(0));
    let asks = [send(1, stand(number, None)), again(2, stand(number, None)), arm(Timer::Silence, BOND)];
    assert_eq!(silence(&mut leader), [vec![disarm(Timer::Beat)], asks.to_vec()].concat());
    assert!(!leader.chair.leads());
}

#[test]
fn a_leader_without_a_copy_that_loses_its_majority_resigns_unless_the_rule_is_off() {
    let lost = |rules: Repairs, usage: Usage| {
        let mut leader = awake_with(rules);
        leader.chair.copy.as_mut().unwrap().holders.remove(0);
        leader.desk.usage = usage;
        let effects = silence(&mut leader);
        (effects, leader)
    };
    let (effects, leader) = lost(Repairs::ALL, Usage::Idle);
    assert_eq!((effects, leader.chair.leads(), leader.chair.rests), (vec![disarm(Timer::Beat)], false, true));
    let (effects, leader) = lost(Repairs::ALL, WAITING);
    let knocks = [disarm(Timer::Beat), broadcast(claim(&leader, 0, Want::Wait)), arm(Timer::Silence, BOND)];
    assert_eq!((effects, leader.chair.rests), (knocks.to_vec(), false));
    let (effects, leader) = lost(Repairs::ALL.without(guard::RESIGN), WAITING);
    assert_eq!((effects, leader.chair.leads()), (vec![], true));
}

#[test]
fn a_waiter_that_hears_nothing_asks_all_members_unless_the_rule_is_off() {
    let unheard = |rules: Repairs, usage: Usage| {
        let mut node = follower_with(3, rules);
        node.desk.usage = usage;
        (silence(&mut node), node.chair.rests)
    };
    let knocks = vec![broadcast(claim(&follower(3), 3, Want::Wait)), arm(Timer::Silence, BOND)];
    assert_eq!(unheard(Repairs::ALL, WAITING), (knocks, false));
    assert_eq!(unheard(Repairs::ALL, Usage::Idle), (vec![], true));
    assert_eq!(unheard(Repairs::ALL.without(guard::KNOCK_AGAIN), WAITING), (vec![], true));
}

#[test]
fn a_waiter_that_asks_for_votes_in_vain_asks_all_members_unless_the_rule_is_off() {
    let in_vain = |rules: Repairs, usage: Usage, leaving: bool| {
        let mut node = candidate_with(rules);
        (node.desk.usage, node.chair.leaving) = (usage, leaving);
        silence(&mut node)
    };
    let asks_all = broadcast(claim(&follower(1), 1, Want::Wait));
    assert_eq!(in_vain(Repairs::ALL, WAITING, false), [vec![asks_all], asks(second(1), None)].concat());
    assert_eq!(in_vain(Repairs::ALL, Usage::Idle, false), asks(second(1), None));
    assert_eq!(in_vain(Repairs::ALL, WAITING, true), asks(second(1), None));
    assert_eq!(in_vain(Repairs::ALL.without(guard::ASK_ALL), WAITING, false), asks(second(1), None));
}

#[test]
fn a_vote_tells_what_the_voter_knows_and_is_given_once_it_is_not_bound() {
    let mut node = follower(2);
    assert_eq!(told(&mut node, 1, stand(second(1), None)), [], "it is bound to node 0");
    let lower = LeaderNo { counter: 0, stay: Stay(1) };
    assert_eq!(told(&mut node, 1, stand(lower, None)), [], "it has a leader");
    node.chair.promise.loosen();
    let before = copy_of(&node);
    let votes = [arm(Timer::Silence, BOND), send(1, vote(2, second(1), Some(before)))];
    assert_eq!(told(&mut node, 1, stand(second(1), None)), votes);
    assert_eq!(node.chair.promise.number(), Some(second(1)));
    assert_eq!(told(&mut node, 1, stand(second(1), None)), votes, "the vote may have been lost");
    let ahead = send(0, Message::Ahead { number: second(1) });
    assert_eq!(told(&mut node, 0, stand(second(0), None)), [ahead], "a lower number");
    node.chair.terms.rules = Repairs::ALL.without(guard::SPOKEN_FOR);
    assert_eq!(told(&mut node, 0, stand(second(0), None)), []);
    node.chair.rests = true;
    told(&mut node, 1, stand(second(1), None));
    assert!(!node.chair.rests, "there is an election");
    let mut stranger = follower(3);
    stranger.chair.promise.loosen();
    assert_eq!(told(&mut stranger, 1, stand(second(1), None)), [], "its vote does not count");
}

#[test]
fn a_member_that_votes_leads_no_more_and_stands_no_more() {
    let mut leader = awake();
    leader.chair.promise.loosen();
    assert_eq!(told(&mut leader, 1, stand(second(1), None))[0], disarm(Timer::Beat));
    assert_eq!(leader.chair.role, Role::Follower);
    let mut other = candidate();
    told(&mut other, 2, stand(second(2), None));
    assert_eq!((other.chair.role, other.chair.promise.number()), (Role::Follower, Some(second(2))));
}

#[test]
fn a_candidate_that_gets_no_vote_wakes_those_who_rest_unless_the_rule_is_off() {
    let refused = |rules: Repairs| {
        let mut node = follower_with(2, rules);
        node.chair.rests = true;
        (told(&mut node, 1, stand(second(1), None)), node.chair.rests)
    };
    assert_eq!(refused(Repairs::ALL), (vec![arm(Timer::Silence, BOND)], false));
    assert_eq!(refused(Repairs::ALL.without(guard::STIR_BY_STAND)), (vec![], true));
}

#[test]
fn a_lower_candidate_that_another_does_not_know_is_told_of_the_greater_number() {
    let answers = |rules: Repairs, from: u32| told(&mut candidate_with(rules), from, stand(second(0), None));
    assert_eq!(answers(Repairs::ALL, 3), [send(3, Message::Ahead { number: second(1) })]);
    assert_eq!(answers(Repairs::ALL, 0), [], "it is asked for its vote");
    assert_eq!(answers(Repairs::ALL.without(guard::HEED), 3), []);
}

#[test]
fn a_bound_node_votes_for_the_successor_of_its_leader_and_stays_bound_unless_the_rule_is_off() {
    let relieved = |rules: Repairs| {
        let mut node = follower_with(2, rules);
        let effects = told(&mut node, 1, stand(second(1), Some(FIRST)));
        assert_eq!(effects.len(), 2, "{effects:?}");
        node.chair.promise.is_bound()
    };
    assert!(relieved(Repairs::ALL));
    assert!(!relieved(Repairs::ALL.without(guard::STAY_BOUND)));
}

#[test]
fn a_vote_is_bound_by_bond_and_counter_as_long_as_these_rules_are_in_force() {
    let may_vote = |rules: Repairs, is_bound: bool, number: LeaderNo| {
        let mut node = follower_with(2, rules);
        if !is_bound {
            node.chair.promise.loosen();
        }
        node.chair.may_vote(number, None)
    };
    let same_counter = LeaderNo { counter: 1, stay: Stay(1) };
    let lower = LeaderNo { counter: 0, stay: Stay(1) };
    assert!(!may_vote(Repairs::ALL, true, second(1)) && may_vote(Repairs::ALL, false, second(1)));
    assert!(may_vote(Repairs::ALL.without(guard::BOND), true, second(1)));
    assert!(!may_vote(Repairs::ALL, false, same_counter));
    let without = Repairs::ALL.without(guard::COUNTER);
    assert!(may_vote(without, false, same_counter) && !may_vote(without, true, same_counter));
    assert!(!may_vote(without, false, lower));
}

#[test]
fn the_votes_of_a_majority_make_a_leader() {
    let mut node = candidate();
    let known = Some(copy_of(&node));
    assert_eq!(told(&mut node, 2, vote(2, FIRST.next(Stay(0)), known.clone())), [], "that was for another");
    assert_eq!(told(&mut node, 3, vote(3, second(1), known.clone())), [], "it keeps no copy");
    let effects = told(&mut node, 2, vote(2, second(1), known));
    let begins = [arm(Timer::Silence, BOND), latest_beat(&node, false), arm(Timer::Beat, BEAT)];
    assert_eq!((effects, node.chair.leads()), (begins.to_vec(), true));
    assert_eq!(copy_of(&node).number, second(1));
    assert!(node.chair.promise.is_bound() && node.chair.promise.number() == Some(second(1)));
    assert!(!term(&mut node).settled, "the copy holders may have changed since");
}

/// Node 1 stands and knows of these copy holders; node 2 votes for it twice, and knows of those, as of another round.
fn is_elected(rules: Repairs, own: &[u32], theirs: &[u32], theirs_is_later: bool) -> bool {
    let mut node = candidate_with(rules);
    let mut known = copy_of(&node);
    known.holders = theirs.iter().copied().map(member).collect();
    known.round = if theirs_is_later { known.round.next() } else { Round::default() };
    node.chair.copy.as_mut().unwrap().holders = own.iter().copied().map(member).collect();
    for _ in 0..2 {
        told(&mut node, 2, vote(2, second(1), Some(known.clone())));
    }
    node.chair.leads()
}

#[test]
fn the_latest_copy_says_whose_votes_count() {
    let (three, four) = ([0, 1, 2], [0, 1, 2, 3]);
    assert!(!is_elected(Repairs::ALL, &three, &four, true), "two of four are no majority");
    assert!(is_elected(Repairs::ALL.without(guard::FRESHEST), &three, &four, true));
    assert!(is_elected(Repairs::ALL, &three, &four, false), "two of three are");
    assert!(!is_elected(Repairs::ALL, &four, &three, false));
    assert!(is_elected(Repairs::ALL, &four, &three, true));
    let mut node = candidate();
    told(&mut node, 2, vote(2, second(1), None));
    assert!(node.chair.leads(), "a voter that knows nothing has a vote all the same");
}

#[test]
fn the_token_goes_to_a_copy_holder_that_follows_the_leader_that_departs() {
    let mut user = awake();
    lend_to(4, &mut user);
    let allocated = vec![loans(&mut user)[0].allocation];
    let token = |number| Message::Token { number, allocated: allocated.clone() };
    let mut node = follower(1);
    assert_eq!(told(&mut node, 0, token(FIRST)), asks(second(1), Some(FIRST)));
    assert_eq!(told(&mut node, 0, token(FIRST)), [], "it stands already");
    told(&mut node, 2, vote(2, second(1), None));
    assert_eq!(books(&mut node).loans[0].allocation, allocated[0]);
    assert_eq!((books(&mut node).loans[0].left, books(&mut node).free.count()), (5, 1));
    assert_eq!(told(&mut follower(1), 0, token(second(0))), [], "it follows another");
    assert_eq!(told(&mut follower(3), 0, token(FIRST)), [], "it keeps no copy");
}

#[test]
fn a_leader_that_is_not_followed_for_a_greater_number_takes_one_with_a_majority_behind_it() {
    let mut leader = awake();
    let ahead = |number| Message::Ahead { number };
    assert_eq!(told(&mut leader, 2, ahead(second(2))), []);
    assert_eq!(told(&mut leader, 2, ahead(second(1))), []);
    let number = LeaderNo { counter: 3, stay: Stay(0) };
    let asks = [send(1, stand(number, Some(FIRST))), again(2, stand(number, Some(FIRST))), arm(Timer::Silence, BOND)];
    let outdoes = [vec![disarm(Timer::Beat)], asks.to_vec()].concat();
    let effects = claimed(&mut leader, 1, Want::Nothing);
    assert_eq!(effects, [vec![arm(Timer::Silence, BOND)], outdoes.clone()].concat());
    assert_eq!(told(&mut confirmed(), 2, ahead(second(2))), outdoes, "a majority is behind it already");
    assert_eq!(told(&mut confirmed(), 2, ahead(FIRST)), [], "that is its own");
    let mut without = awake_with(Repairs::ALL.without(guard::OUTDO));
    told(&mut without, 2, ahead(second(2)));
    assert_eq!(term(&mut without).outbid, None);
}

#[test]
fn a_candidate_that_hears_of_a_greater_number_stands_under_a_greater_one() {
    let mut node = candidate();
    assert_eq!(told(&mut node, 2, Message::Ahead { number: second(0) }), []);
    assert_eq!(told(&mut node, 2, Message::Ahead { number: second(1) }), [], "that is its own");
    let number = LeaderNo { counter: 3, stay: Stay(1) };
    assert_eq!(told(&mut node, 2, Message::Ahead { number: second(2) }), asks(number, None));
    assert_eq!(told(&mut node, 2, vote(2, second(1), None)), [], "that vote was for the lower number");
    assert_eq!(told(&mut follower(1), 2, Message::Ahead { number: second(2) }), []);
}

/// What node 1 does that begins to lead, and what it has in its books then.
fn begins(rules: Repairs, allocated: &[Allocation], change: impl FnOnce(&mut KlmeFt)) -> (Effects, KlmeFt) {
    let mut node = follower_with(1, rules);
    change(&mut node);
    let effects = done(|out| node.chair.lead(second(1), allocated.to_vec(), &mut node.desk, out));
    (effects, node)
}

/// Unit 0, by node 0's first grant.
fn lent_to(user: u32) -> Allocation {
    Allocation { member: member(user), permit: permit(0), seal: seal() }
}

#[test]
fn a_new_leader_waits_behind_all_others_but_those_of_whom_nothing_was_heard() {
    let waits = |node: &mut KlmeFt| {
        node.chair.copy.as_mut().unwrap().rides = [1, 0, 3].map(member).to_vec();
        node.desk.usage = Usage::Waiting { demand: Demand::ONE, claimed: true };
    };
    let (effects, mut node) = begins(Repairs::ALL, &[], waits);
    let queue = [Waiter { member: member(3), missed: 1 }, Waiter { member: member(1), missed: 0 }];
    assert_eq!(books(&mut node).queue, queue);
    assert_eq!(node.desk.usage, WAITING);
    assert_eq!(effects[..2], [disarm(Timer::Lease(false)), arm(Timer::Silence, BOND)]);
    assert!(effects.contains(&latest_beat(&node, false)));
    let (effects, mut leaver) = begins(Repairs::ALL, &[], |node| {
        waits(node);
        node.chair.leaving = true;
    });
    assert!(effects.contains(&latest_beat(&leaver, true)), "who would keep a copy in its place? {effects:?}");
    assert_eq!(books(&mut leaver).queue.len(), 1);
    let leaving = |node: &mut KlmeFt| term(node).holders.iter().map(|holder| holder.leaving).collect::<Vec<_>>();
    assert_eq!((leaving(&mut node), leaving(&mut leaver)), (vec![false; 3], vec![false, true, false]));
}

#[test]
fn a_new_leader_goes_on_with_the_unit_that_was_handed_over_to_it_and_with_no_other() {
    for lease in [false, true] {
        let (effects, mut node) = begins(Repairs::ALL, &[lent_to(1)], |node| node.desk.usage = using(lease, true));
        assert_eq!(effects[..2], [disarm(Timer::Lease(!lease)), arm(Timer::Silence, BOND)]);
        assert_eq!((node.desk.usage, books(&mut node).free.count()), (using(lease, false), 1));
        let (effects, mut node) = begins(Repairs::ALL, &[], |node| node.desk.usage = using(lease, true));
        assert_eq!(effects[1], Effect::Revoke(Demand::ONE), "nobody knows of it");
        assert_eq!((node.desk.usage, books(&mut node).free), (WAITING, Permits::first(2)));
    }
}

#[test]
fn a_new_leader_takes_back_what_it_does_not_use_and_nothing_of_others() {
    let (_, mut node) = begins(Repairs::ALL, &[lent_to(1)], |_| {});
    assert_eq!(books(&mut node).free, Permits::first(2));
    let (_, mut node) = begins(Repairs::ALL, &[lent_to(4)], |_| {});
    assert_eq!(books(&mut node).free.count(), 1);
}

#[test]
fn the_copy_holders_of_a_new_leader_are_settled_only_if_the_rule_is_off() {
    let settled = |rules: Repairs| term(&mut begins(rules, &[], |_| {}).1).settled;
    assert!(!settled(Repairs::ALL));
    assert!(settled(Repairs::ALL.without(guard::SETTLE)));
}
