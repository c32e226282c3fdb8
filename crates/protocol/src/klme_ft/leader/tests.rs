//! What a leader does about what it hears, and when a beat is over.

use alloc::vec;

use crate::klme_ft::books::{Loan, SILENT};
use crate::klme_ft::tests::*;

use crate::tenure::{Change, Round};
use crate::{NodeId, Permits, Protocol, Repairs, Stay};

use super::*;

fn beat_over(leader: &mut KlmeFt) -> Effects {
    done(|out| leader.timer(Timer::Beat, out))
}

fn grant(leader: &KlmeFt, renews: bool) -> Message {
    Message::Grant { number: FIRST, round: copy_of(leader).round, permit: permit(0), seal: seal(), renews }
}

#[test]
fn a_claim_wakes_the_leader_and_is_answered_when_a_majority_has_heard_the_beat() {
    let mut leader = node(0);
    let effects = claimed(&mut leader, 3, Want::Wait);
    let wakes = [latest_beat(&leader, false), arm(Timer::Beat, BEAT), arm(Timer::Silence, BOND)];
    assert_eq!((effects, copy_of(&leader).round), (wakes.to_vec(), Round::default().next()));
    assert_eq!(copy_of(&leader).rides, [member(3)]);
    assert!(!leader.chair.rests && !leader.chair.promise.is_bound());
    assert_eq!(claimed(&mut leader, 3, Want::Wait), [], "no copy holder but itself has acknowledged the beat");
    let confirmed = [arm(Timer::Silence, BOND), send(3, grant(&leader, false))];
    assert_eq!(claimed(&mut leader, 1, Want::Nothing), confirmed);
    assert!(leader.chair.promise.is_bound(), "as those are that it counts on");
    assert_eq!(claimed(&mut leader, 2, Want::Nothing), [], "a majority was enough");
    let allocation = loans(&mut leader)[0].allocation;
    assert_eq!(loans(&mut leader), [Loan { allocation, left: 5, claimed: false }]);
}

#[test]
fn what_is_claimed_again_is_renewed_and_what_is_given_back_lets_the_leader_rest() {
    let mut leader = confirmed();
    lend_to(3, &mut leader);
    assert_eq!(beat_over(&mut leader), [latest_beat(&leader, false), arm(Timer::Beat, BEAT)]);
    assert_eq!((loans(&mut leader)[0].left, copy_of(&leader).round), (4, Round::default().next().next()));
    assert_eq!(claimed(&mut leader, 3, Want::Hold(seal())), []);
    let renewed = [arm(Timer::Silence, BOND), send(3, grant(&leader, true))];
    assert_eq!(claimed(&mut leader, 1, Want::Nothing), renewed);
    assert_eq!((loans(&mut leader)[0].left, loans(&mut leader)[0].claimed), (5, false));
    assert_eq!(claimed(&mut leader, 3, Want::Free(seal())), []);
    assert_eq!(books(&mut leader).free, Permits::first(2));
    assert_eq!(beat_over(&mut leader), [latest_beat(&leader, false)]);
    assert!(leader.chair.rests);
}

/// A leader whose beat is over, with a majority behind it and nothing to do, changed as `change` says.
fn rests_after(beat_is_over: bool, rules: Repairs, change: impl FnOnce(&mut KlmeFt)) -> bool {
    let mut leader = awake_with(rules);
    term(&mut leader).holders[1].acknowledged = true;
    change(&mut leader);
    done(|out| leader.chair.begin_round(beat_is_over, &mut leader.desk, out));
    leader.chair.rests
}

fn rests(change: impl FnOnce(&mut KlmeFt)) -> bool {
    rests_after(false, Repairs::ALL, change)
}

#[test]
fn a_leader_rests_when_nothing_is_left_to_do() {
    assert!(rests(|_| {}));
    assert!(!rests(|leader| books(leader).enqueue(member(3), 0)), "a node waits");
    assert!(!rests(|leader| lend_to(3, leader)), "a unit is in use");
    assert!(!rests(|leader| term(leader).holders[1].acknowledged = false), "no majority is behind it");
    assert!(!rests(|leader| leader.chair.leaving = true), "it wants to go");
    let ghost = |leader: &mut KlmeFt| books(leader).enqueue(member(3), SILENT);
    assert!(rests(ghost), "a waiter may have gone");
    assert!(!rests_after(false, Repairs::ALL.without(guard::GHOSTS), ghost));
    assert!(rests_after(false, Repairs::ALL.without(guard::GHOSTS), |_| {}));
}

#[test]
fn a_leader_does_not_rest_before_its_copy_holders_are_as_they_should_be() {
    let with_two_copies = |has_asked: bool, volunteer: Option<Member>| {
        rests(|leader| {
            let term = term(leader);
            term.holders.pop();
            (term.has_asked, term.volunteer) = (has_asked, volunteer);
        })
    };
    assert!(!with_two_copies(false, None), "it asks who could help first");
    assert!(with_two_copies(true, None), "nobody could");
    assert!(!with_two_copies(true, Some(member(3))), "node 3 could");
    let with_a_leaver = |leader: &mut KlmeFt| {
        term(leader).has_asked = true;
        term(leader).holders[2].leaving = true;
    };
    assert!(!rests(with_a_leaver), "another may offer to take its place yet");
}

#[test]
fn a_beat_asks_who_could_help_if_copies_are_missing_and_others_are_there() {
    let asks = |copies: usize, others: &[u32]| {
        let mut leader = awake();
        leader.chair.others = others.iter().copied().map(NodeId).collect();
        term(&mut leader).holders.truncate(copies);
        let effects = beat_over(&mut leader);
        assert_eq!(effects[0], latest_beat(&leader, term(&mut leader.clone()).has_asked));
        term(&mut leader).has_asked
    };
    assert!(asks(2, &[1, 2]));
    assert!(!asks(2, &[1]), "the only other keeps a copy");
    assert!(!asks(3, &[1, 2, 3]), "three copies are enough");
}

#[test]
fn a_change_of_copy_holders_is_settled_when_a_majority_of_the_new_ones_says_so() {
    let with_a_volunteer = |rules: Repairs| {
        let mut leader = awake_with(rules);
        let term = term(&mut leader);
        term.holders.pop();
        term.volunteer = Some(member(3));
        term.holders[1].acknowledged = true;
        beat_over(&mut leader);
        leader
    };
    let mut leader = with_a_volunteer(Repairs::ALL);
    assert_eq!(copy_of(&leader).holders, [0, 1, 3].map(member));
    assert_eq!((term(&mut leader).settled, term(&mut leader).added), (false, Some(member(3))));
    claimed(&mut leader, 1, Want::Nothing);
    assert_eq!((term(&mut leader).settled, term(&mut leader).added), (true, None));
    assert!(term(&mut with_a_volunteer(Repairs::ALL.without(guard::SETTLE))).settled);
}

#[test]
fn a_copy_holder_that_was_added_and_never_heard_is_struck_off_unless_the_rule_is_off() {
    let holders = |rules: Repairs| {
        let mut leader = awake_with(rules);
        let term = term(&mut leader);
        (term.settled, term.added) = (false, Some(member(2)));
        term.holders[2].missed = 3;
        term.holders[1].acknowledged = true;
        beat_over(&mut leader);
        copy_of(&leader).holders
    };
    assert_eq!(holders(Repairs::ALL), [0, 1].map(member));
    assert_eq!(holders(Repairs::ALL.without(guard::WITHDRAW)), [0, 1, 2].map(member));
}

#[test]
fn a_leaver_goes_when_a_beat_has_asked_for_another_in_vain() {
    let mut leader = confirmed();
    let term = term(&mut leader);
    (term.has_asked, term.holders[2].leaving) = (true, true);
    claimed(&mut leader, 1, Want::Nothing);
    assert_eq!(copy_of(&leader).holders, [0, 1, 2].map(member), "another may answer yet");
    beat_over(&mut leader);
    assert_eq!(copy_of(&leader).holders, [0, 1].map(member));
}

#[test]
fn a_leaver_is_replaced_as_soon_as_another_offers_itself() {
    let offered = |is_confirmed: bool| {
        let mut leader = confirmed();
        let term = term(&mut leader);
        (term.has_asked, term.holders[2].leaving) = (true, true);
        term.holders[1].acknowledged = is_confirmed;
        let effects = claimed(&mut leader, 3, Want::Nothing);
        (effects, leader)
    };
    let (effects, leader) = offered(true);
    assert_eq!(copy_of(&leader).holders, [0, 1, 2, 3].map(member));
    assert_eq!(effects, [latest_beat(&leader, false), arm(Timer::Beat, BEAT)]);
    assert_eq!(offered(false).0, [], "its right to change anything is not confirmed");
    let mut leader = confirmed();
    let term = term(&mut leader);
    term.change(Some(Change::Add(member(3))));
    (term.settled, term.holders[3].missed, term.holders[1].acknowledged) = (true, 3, false);
    assert_eq!(claimed(&mut leader, 1, Want::Nothing), [], "two of four are no majority, though two of three would be");
}

#[test]
fn an_acknowledgement_is_of_the_latest_beat_and_tells_that_its_sender_leaves() {
    let acknowledged = |rules: Repairs, round: Round| {
        let mut leader = awake_with(rules);
        term(&mut leader).holders[1].missed = 2;
        let stay = Stay(1);
        told(&mut leader, 1, Message::Claim { stay, number: Some(FIRST), round, want: Want::Nothing, leaving: true });
        let holder = term(&mut leader).holders[1];
        (holder.acknowledged, holder.missed, holder.leaving)
    };
    let (earlier, latest) = (Round::default(), Round::default().next());
    assert_eq!(acknowledged(Repairs::ALL, latest), (true, 0, true));
    assert_eq!(acknowledged(Repairs::ALL, earlier), (false, 2, false));
    assert_eq!(acknowledged(Repairs::ALL.without(guard::LATE_ACKS), earlier), (true, 0, true));
    let mut resting = node(0);
    claimed(&mut resting, 1, Want::Nothing);
    assert!(resting.chair.rests && !term(&mut resting).holders[1].acknowledged, "it wakes nobody");
}

#[test]
fn a_late_claim_renews_nothing_unless_the_rule_is_off() {
    let is_claimed = |rules: Repairs| {
        let mut leader = awake_with(rules);
        lend_to(3, &mut leader);
        let (stay, round, want) = (Stay(3), Round::default(), Want::Hold(seal()));
        told(&mut leader, 3, Message::Claim { stay, number: Some(FIRST), round, want, leaving: false });
        loans(&mut leader)[0].claimed
    };
    assert!(!is_claimed(Repairs::ALL));
    assert!(is_claimed(Repairs::ALL.without(guard::LATE_CLAIMS)));
}

#[test]
fn a_leader_renews_its_own_lease_with_its_majority() {
    for lease in [false, true] {
        let mut leader = awake();
        lend_to(0, &mut leader);
        books(&mut leader).enqueue(member(3), 0);
        leader.desk.usage = using(lease, false);
        let (number, round) = copy_of(&leader).beat();
        let (permit, seal) = (permit(1), seal().next());
        let grant = Message::Grant { number, round, permit, seal, renews: false };
        let effects = claimed(&mut leader, 1, Want::Nothing);
        assert_eq!(effects, [arm(Timer::Silence, BOND), arm(Timer::Lease(lease), LEASE), send(3, grant)]);
        beat_over(&mut leader);
        claimed(&mut leader, 3, Want::Hold(seal));
        let renewal = Message::Grant { number, round: round.next(), permit, seal, renews: true };
        let effects = claimed(&mut leader, 1, Want::Nothing);
        assert_eq!(effects, [arm(Timer::Silence, BOND), arm(Timer::Lease(lease), LEASE), send(3, renewal)]);
    }
}

#[test]
fn a_leader_that_wants_a_unit_waits_in_line() {
    let mut leader = confirmed();
    leader.desk.usage = WAITING;
    books(&mut leader).enqueue(member(0), 0);
    assert_eq!(done(|out| leader.desk.serve(&leader.chair, out)), [arm(Timer::Lease(false), LEASE), entered()]);
    assert_eq!(leader.desk.usage, using(false, false));
}

#[test]
fn nothing_is_granted_without_a_majority_or_at_rest() {
    let served = |rules: Repairs, is_confirmed: bool, rests: bool| {
        let mut leader = awake_with(rules);
        leader.chair.rests = rests;
        term(&mut leader).holders[1].acknowledged = is_confirmed;
        books(&mut leader).enqueue(member(3), 0);
        done(|out| leader.desk.serve(&leader.chair, out)).len()
    };
    assert_eq!(served(Repairs::ALL, true, false), 1);
    assert_eq!(served(Repairs::ALL, false, false), 0);
    assert_eq!(served(Repairs::ALL, true, true), 0);
    assert_eq!(served(Repairs::ALL.without(guard::CONFIRM), false, false), 1);
}

#[test]
fn a_leader_is_bound_to_itself_unless_the_rule_is_off() {
    let bound = |rules: Repairs| {
        let mut leader = awake_with(rules);
        let later = FIRST.next(Stay(0));
        leader.chair.bind_self(later);
        assert_eq!(leader.chair.promise.number(), Some(later));
        leader.chair.promise.is_bound()
    };
    assert!(bound(Repairs::ALL));
    assert!(!bound(Repairs::ALL.without(guard::BIND_SELF)));
}

#[test]
fn a_unit_is_reclaimed_after_its_lease_unless_the_rule_is_off() {
    assert_eq!(node(0).desk.beats_to_reclaim(), 5);
    assert_eq!(node_with(0, Repairs::ALL.without(guard::GUARD_LEASE)).desk.beats_to_reclaim(), 1);
}

/// Node 0, whose copy is not counted on any more: nodes 1 to 3 keep one.
fn outside() -> KlmeFt {
    let mut leader = awake();
    let term = term(&mut leader);
    term.holders.remove(0);
    term.change(Some(Change::Add(member(3))));
    lend_to(4, &mut leader);
    leader
}

#[test]
fn the_heir_of_a_leader_has_acknowledged_that_it_keeps_a_copy() {
    let mut leader = outside();
    leader.chair.leaving = true;
    assert_eq!(claimed(&mut leader, 2, Want::Nothing), []);
    let allocated = vec![loans(&mut leader)[0].allocation];
    let hands_over = [arm(Timer::Silence, BOND), send(2, Message::Token { number: FIRST, allocated })];
    assert_eq!(claimed(&mut leader, 3, Want::Nothing), [hands_over.to_vec(), departure()].concat());
    assert_eq!(leader.chair.stay, None);
}

#[test]
fn a_leader_that_stays_or_keeps_a_copy_hands_nothing_over() {
    let mut leader = outside();
    claimed(&mut leader, 1, Want::Nothing);
    assert_eq!(claimed(&mut leader, 3, Want::Nothing), [arm(Timer::Silence, BOND)], "it stays");
    let mut leader = awake();
    leader.chair.leaving = true;
    assert_eq!(claimed(&mut leader, 1, Want::Nothing), [arm(Timer::Silence, BOND)], "its copy counts");
    let mut leader = outside();
    beat_over(&mut leader);
    assert!(term(&mut leader).holders.iter().all(|holder| !holder.acknowledged), "its own word does not count");
}

#[test]
fn the_first_member_that_could_help_and_answers_in_time_is_chosen() {
    let chosen = |has_asked: bool, from: u32, round: Round| {
        let mut leader = awake();
        term(&mut leader).has_asked = has_asked;
        let (number, want) = (Some(FIRST), Want::Nothing);
        told(&mut leader, from, Message::Claim { stay: Stay(from.into()), number, round, want, leaving: false });
        claimed(&mut leader, 4, Want::Nothing);
        term(&mut leader).volunteer
    };
    let (earlier, latest) = (Round::default(), Round::default().next());
    assert_eq!(chosen(true, 3, latest), Some(member(3)));
    assert_eq!(chosen(true, 3, earlier), Some(member(4)), "node 3 was late");
    assert_eq!(chosen(true, 1, latest), Some(member(4)), "node 1 keeps a copy already");
    assert_eq!(chosen(false, 3, latest), None, "nobody was asked");
}

#[test]
fn a_leaver_is_not_chosen_unless_the_rule_is_off() {
    let chosen = |rules: Repairs, volunteer: Option<Member>| {
        let mut leader = awake_with(rules);
        (term(&mut leader).has_asked, term(&mut leader).volunteer) = (true, volunteer);
        let says = farewell(&leader, 3);
        told(&mut leader, 3, says);
        term(&mut leader).volunteer
    };
    let without = Repairs::ALL.without(guard::FORGET_VOLUNTEER);
    assert_eq!(chosen(Repairs::ALL, Some(member(3))), None);
    assert_eq!(chosen(Repairs::ALL, Some(member(4))), Some(member(4)), "node 4 stays");
    assert_eq!(chosen(Repairs::ALL, None), None);
    assert_eq!(chosen(without, None), Some(member(3)));
}

#[test]
fn a_leaver_is_dismissed_when_its_copy_is_not_counted_on_for_certain() {
    let dismissed = |from: u32, is_settled: bool, leaving: bool| {
        let mut leader = awake();
        term(&mut leader).settled = is_settled;
        let says = if leaving { farewell(&leader, from) } else { claim(&leader, from, Want::Nothing) };
        let (stay, (number, round)) = (member(from).stay, copy_of(&leader).beat());
        told(&mut leader, from, says).contains(&send(from, Message::Dismiss { stay, number, round }))
    };
    assert!(dismissed(3, true, true));
    assert!(!dismissed(3, true, false), "it stays");
    assert!(!dismissed(3, false, true), "an earlier set of copy holders may count on it");
    assert!(!dismissed(1, true, true), "it keeps a copy");
}

#[test]
fn a_member_that_rests_listens_when_another_wants_something() {
    let stirred = |mut node: KlmeFt, says: &dyn Fn(&KlmeFt) -> Message| {
        let message = says(&node);
        (told(&mut node, 3, message), node.chair.rests)
    };
    let listens = (vec![arm(Timer::Silence, BOND)], false);
    assert_eq!(stirred(node(1), &|node| claim(node, 3, Want::Wait)), listens);
    assert_eq!(stirred(node(1), &|node| farewell(node, 3)), listens);
    assert_eq!(stirred(node(1), &|node| claim(node, 3, Want::Nothing)), (vec![], true));
    assert_eq!(stirred(follower(1), &|node| claim(node, 3, Want::Wait)), (vec![], false), "it listens already");
    let mut leader = node(0);
    let effects = done(|out| leader.chair.stir(&mut leader.desk, out));
    assert_eq!(effects[0], latest_beat(&leader, false), "a leader says that it is there");
    assert_eq!(done(|out| leader.chair.stir(&mut leader.desk, out)), [], "it has said so");
}

#[test]
fn a_leader_that_wakes_watches_whether_a_majority_hears_it_unless_the_rule_is_off() {
    let watches = |rules: Repairs| {
        let mut leader = node_with(0, rules);
        claimed(&mut leader, 3, Want::Wait).contains(&arm(Timer::Silence, BOND))
    };
    assert!(watches(Repairs::ALL));
    assert!(!watches(Repairs::ALL.without(guard::WATCH)));
}

#[test]
fn a_beat_of_one_that_leads_no_more_is_none() {
    let mut node = follower(1);
    let before = node.clone();
    assert_eq!((beat_over(&mut node), node), (vec![], before));
}
