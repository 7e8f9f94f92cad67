//! An agent that can be switched to another profile while the gateway runs.
//!
//! A running run stays with the agent that started it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use millpond_log::agent::{Agent, AgentDescription, AgentFuture, Job};

/// Builds the agent of a profile; the error is a message for people.
type BuildAgent = Box<dyn Fn(&str) -> Result<Arc<dyn Agent>, String> + Send + Sync>;

/// Forwards to the agent of the current profile.
pub struct SwitchableAgent {
    current: RwLock<Arc<dyn Agent>>,
    build: BuildAgent,
}

impl fmt::Debug for SwitchableAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chooser").field(&self.name()).finish()
    }
}

impl SwitchableAgent {
    /// Creates an agent that forwards to `initial` until it is switched.
    pub fn new(
        initial: Arc<dyn Agent>,
        build: impl Fn(&str) -> Result<Arc<dyn Agent>, String> + Send + Sync + 'static,
    ) -> SwitchableAgent {
        SwitchableAgent { current: RwLock::new(initial), build: Box::new(build) }
    }

    /// Switches to the agent of `profile`. On error the current agent stays.
    pub fn switch_to_profile(&self, profile: &str) -> Result<(), String> {
        let agent = (self.build)(profile)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = agent;
        Ok(())
    }

    fn current(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Agent for SwitchableAgent {
    fn name(&self) -> &'static str {
        self.current().name()
    }

    fn run_job(&self, job: Job) -> AgentFuture {
        self.current().run_job(job)
    }

    fn connect_tools_and_describe(&self) -> Pin<Box<dyn Future<Output = AgentDescription> + Send>> {
        self.current().connect_tools_and_describe()
    }

    fn can_resume_waiting_run(&self) -> bool {
        self.current().can_resume_waiting_run()
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
        fn run_job(&self, _: Job) -> AgentFuture {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn who_cannot_be_had_changes_nothing() {
        let chooser = SwitchableAgent::new(Arc::new(Named("first")), |profile| match profile {
            "second" => Ok(Arc::new(Named("second"))),
            other => Err(format!("unknown profile `{other}`")),
        });
        assert_eq!(chooser.switch_to_profile("third").unwrap_err(), "unknown profile `third`");
        assert_eq!(chooser.name(), "first");
        chooser.switch_to_profile("second").unwrap();
        assert_eq!(chooser.name(), "second");
    }
}
