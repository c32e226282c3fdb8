//! Many simulations on all cores. Which thread runs what does not matter to the result.

use rayon::prelude::*;

use crate::config::Plan;
use crate::run::{Records, Replication, replicate};
use crate::summary::Summary;

/// Runs all replications of all plans, and calls `progress` after each with its plan.
pub fn run_all(plans: &[Plan], threads: usize, progress: &(dyn Fn(&Plan) + Sync)) -> Vec<Summary> {
    let tasks: Vec<(&Plan, u32)> =
        plans.iter().flat_map(|plan| (0..plan.config.replications).map(move |number| (plan, number))).collect();
    let run = |&(plan, number): &(&Plan, u32)| {
        let replication =
            replicate(plan, number, Records::default()).expect("without a trace there is nothing to write");
        progress(plan);
        replication
    };
    let results = in_pool(threads, || tasks.par_iter().with_max_len(1).map(run).collect::<Vec<_>>());
    let mut rest: &[Replication] = &results;
    plans
        .iter()
        .map(|plan| {
            let (own, others) = rest.split_at(plan.config.replications as usize);
            rest = others;
            Summary::of(plan, own)
        })
        .collect()
}

/// Runs `work` on so many threads; 0 is one for each core.
pub fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    match pool {
        Ok(pool) => pool.install(work),
        // A machine that refuses more threads has at least this one.
        Err(_) => work(),
    }
}
