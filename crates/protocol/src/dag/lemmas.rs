//! What must hold of the DAG itself, for every algorithm that stands on it.

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::string::String;

use super::Dag;
use crate::Flight;

type Verdict = Result<(), String>;

/// A node without a token that has neighbours has a lower one, as far as it knows, unless it pauses.
pub(crate) fn has_a_way_out(dag: &Dag) -> Verdict {
    if dag.has_no_reversal_due() && dag.has_no_lower_neighbour() {
        return Err(format!("node {} holds no token and has no lower neighbour", dag.my_height.id));
    }
    Ok(())
}

/// Where nothing is in flight between two neighbours, both know the true direction of their link. As true heights are
/// totally ordered, the directions that nodes go by are then free of cycles.
pub(crate) fn directions_agree<P, M>(nodes: &[&P], place: impl Fn(&P) -> &Dag, flights: &[Flight<'_, M>]) -> Verdict {
    for dag in nodes.iter().map(|node| place(node)) {
        let id = dag.my_height.id;
        for neighbour in dag.neighbours.iter().filter(|neighbour| neighbour.known) {
            if neighbour.told < dag.my_height {
                return Err(format!("node {id} stands higher than it has told {}", neighbour.id));
            }
            let between = |flight: &Flight<'_, M>| {
                (flight.from, flight.to) == (id, neighbour.id) || (flight.to, flight.from) == (id, neighbour.id)
            };
            let truth = place(nodes[neighbour.id.index()]).my_height;
            let agrees = (neighbour.height > dag.my_height) == (truth > dag.my_height);
            if !agrees && !flights.iter().any(between) {
                return Err(format!("node {id} has the direction of its link to {} wrong", neighbour.id));
            }
        }
    }
    Ok(())
}
