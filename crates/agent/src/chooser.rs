//! One agent out of several: the profile that a person chooses answers from then on.
//!
//! What is going goes on with whoever began it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use gateway::agent::{About, Agent, Job, Working};

/// Makes the agent of a profile, or says why there is none.
type Make = Box<dyn Fn(&str) -> Result<Arc<dyn Agent>, String> + Send + Sync>;

pub struct Chooser {
    chosen: RwLock<Arc<dyn Agent>>,
    make: Make,
}

impl fmt::Debug for Chooser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chooser").field(&self.name()).finish()
    }
}

impl Chooser {
    pub fn new(
        first: Arc<dyn Agent>,
        make: impl Fn(&str) -> Result<Arc<dyn Agent>, String> + Send + Sync + 'static,
    ) -> Chooser {
        Chooser { chosen: RwLock::new(first), make: Box::new(make) }
    }

    /// If it cannot be had, whoever answered before goes on doing so.
    pub fn choose(&self, profile: &str) -> Result<(), String> {
        let agent = (self.make)(profile)?;
        *self.chosen.write().unwrap_or_else(PoisonError::into_inner) = agent;
        Ok(())
    }

    fn chosen(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.chosen.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Agent for Chooser {
    fn name(&self) -> &'static str {
        self.chosen().name()
    }

    fn work(&self, job: Job) -> Working {
        self.chosen().work(job)
    }

    fn about(&self) -> Pin<Box<dyn Future<Output = About> + Send>> {
        self.chosen().about()
    }

    fn resumes(&self) -> bool {
        self.chosen().resumes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str);

    impl Agent for Named {
        fn name(&self) -> &'static str {
            self.0
        }
        fn work(&self, _: Job) -> Working {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn who_cannot_be_had_changes_nothing() {
        let chooser = Chooser::new(Arc::new(Named("first")), |profile| match profile {
            "second" => Ok(Arc::new(Named("second"))),
            other => Err(format!("there is no profile `{other}`")),
        });
        assert_eq!(chooser.choose("third").unwrap_err(), "there is no profile `third`");
        assert_eq!(chooser.name(), "first");
        chooser.choose("second").unwrap();
        assert_eq!(chooser.name(), "second");
    }
}
