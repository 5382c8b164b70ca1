// SPDX-License-Identifier: Apache-2.0
//! Decoding in two stages: what needs no more than a stretch of the file runs ahead, on a thread of its own where there
//! may be one, and what follows connections through the whole file comes behind it, on the caller's thread.
//!
//! Both do the same in the same order whether they share a thread or not, so the rows cannot depend on that.

use std::sync::mpsc;
use std::thread;

/// Stretches that are under way between the stages: as many as even out that one takes longer here and the next one
/// there. They are all the memory that a second thread costs.
const UNDER_WAY: usize = 8;

/// Have `ahead` fill a stretch after the other until it says that there are no more, and `behind` take each of them.
/// Stretches are used again.
///
/// # Errors
/// Those of `ahead`: what it had filled before has been taken then.
pub(crate) fn run<S: Default + Send, E: Send>(
    threads: usize,
    mut ahead: impl FnMut(&mut S) -> Result<bool, E> + Send,
    mut behind: impl FnMut(&mut S),
) -> Result<(), E> {
    if threads > 1 {
        if let Some(result) = on_two_threads(&mut ahead, &mut behind) {
            return result;
        }
    }
    let mut stretch = S::default();
    loop {
        let more = ahead(&mut stretch)?;
        behind(&mut stretch);
        if !more {
            return Ok(());
        }
    }
}

/// `None` where the system has no thread for it: then nothing has been done.
fn on_two_threads<S: Default + Send, E: Send>(
    ahead: &mut (impl FnMut(&mut S) -> Result<bool, E> + Send),
    behind: &mut impl FnMut(&mut S),
) -> Option<Result<(), E>> {
    let (give, given) = mpsc::channel();
    let (release, spare) = mpsc::channel();
    for _ in 0..UNDER_WAY {
        // The other end is still here.
        let _ = release.send(S::default());
    }
    // The closure owns its ends, so that a panic in it ends the other thread's waiting.
    thread::scope(move |scope| {
        let work = move || {
            // The other side is gone only if it has panicked.
            while let Ok(mut stretch) = spare.recv() {
                let more = ahead(&mut stretch)?;
                if give.send(stretch).is_err() || !more {
                    break;
                }
            }
            Ok(())
        };
        let runner = thread::Builder::new().name("decode-ahead".to_owned());
        let running = runner.spawn_scoped(scope, work).ok()?;
        for mut stretch in given {
            behind(&mut stretch);
            // Nobody wants it at the end.
            let _ = release.send(stretch);
        }
        Some((running.join()).unwrap_or_else(|panicked| std::panic::resume_unwind(panicked)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything arrives once and in order, with any number of threads.
    #[test]
    fn stretches_keep_their_order() {
        for threads in [0, 1, 2, 3] {
            let (mut next, mut taken) = (0, Vec::new());
            let fill = |stretch: &mut Vec<u32>| {
                stretch.push(next);
                next += 1;
                Ok::<_, ()>(next < 100)
            };
            assert_eq!(run(threads, fill, |stretch| taken.append(stretch)), Ok(()));
            assert_eq!(taken, (0..100).collect::<Vec<_>>());
        }
    }

    /// Items before an error have been taken when it is told.
    #[test]
    fn an_error_comes_behind_what_was_filled_before() {
        for threads in [1, 2] {
            let (mut next, mut taken) = (0, Vec::new());
            let fill = |stretch: &mut Vec<u32>| {
                next += 1;
                stretch.push(next);
                if next < 10 {
                    Ok(true)
                } else {
                    Err("broken")
                }
            };
            let result = run(threads, fill, |stretch| taken.append(stretch));
            assert_eq!(result, Err("broken"));
            assert_eq!(taken, (1..10).collect::<Vec<_>>());
        }
    }

    /// A panic of either stage reaches the caller instead of a wait without end.
    #[test]
    fn a_panic_of_either_stage_is_the_callers() {
        for ahead_panics in [true, false] {
            let caught = std::panic::catch_unwind(|| {
                run(
                    2,
                    |(): &mut ()| {
                        assert!(!ahead_panics, "ahead");
                        Ok::<_, ()>(true)
                    },
                    |()| panic!("behind"),
                )
            });
            assert!(caught.is_err());
        }
    }
}
