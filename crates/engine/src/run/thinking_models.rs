//! Models that always begin inside a thought: their chat template opens the tag in the prompt.
//!
//! Only models that always do so are listed. Hybrid models (Qwen3 without `Thinking`, Nemotron,
//! Hermes) are not, and neither are models that write the opening tag themselves.

/// Model family, recognised by parts of its name.
struct ModelFamily {
    /// Parts that the name has, in lower case, with `-` for `_` and space.
    parts: &'static [&'static str],
    /// Parts that a name of another kind has.
    except: &'static [&'static str],
}

/// Model families that begin inside a thought.
const FAMILIES: &[ModelFamily] = &[
    // The preview has no thinking tags.
    ModelFamily { parts: &["qwq"], except: &["preview"] },
    // The model and its distillations, such as `DeepSeek-R1-Distill-Qwen-32B`.
    ModelFamily { parts: &["deepseek-r1"], except: &[] },
    ModelFamily { parts: &["r1-distill"], except: &[] },
    ModelFamily { parts: &["r1-1776"], except: &[] },
    // `Qwen3-4B-Thinking-2507`, `Qwen3-Next-80B-A3B-Thinking`, `Qwen3-VL-8B-Thinking`.
    ModelFamily {
        parts: &["qwen3", "thinking"],
        except: &["non-thinking", "no-thinking", "nothinking"],
    },
    ModelFamily { parts: &["glm-z1"], except: &[] },
    ModelFamily { parts: &["exaone-deep"], except: &[] },
    ModelFamily { parts: &["minimax-m2"], except: &[] },
];

/// True if replies of `model` begin inside a thought that the prompt opened.
pub(super) fn always_begins_in_thought(model: &str) -> bool {
    let name = model.to_lowercase().replace(['_', ' '], "-");
    let has = |part: &&str| name.contains(*part);
    FAMILIES.iter().any(|family| family.parts.iter().all(has) && !family.except.iter().any(has))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x3_models_whose_template_opens_a_thought_are_known_by_their_names() {
        for model in [
            "Qwen/QwQ-32B",
            "qwq:latest",
            "deepseek-ai/DeepSeek-R1",
            "deepseek-r1:7b",
            "DeepSeek_R1_Distill_Llama_70B",
            "qwen3:4b-thinking-2507-q4_K_M",
            "Qwen/Qwen3-235B-A22B-Thinking-2507",
            "zai-org/GLM-Z1-32B-0414",
            "LGAI-EXAONE/EXAONE-Deep-7.8B",
        ] {
            assert!(always_begins_in_thought(model), "{model}");
        }
        for model in [
            "",
            "qwen3:4b",
            "Qwen/QwQ-32B-Preview",
            "Qwen/Qwen3-30B-A3B-Instruct-2507",
            "qwen3-30b-non-thinking",
            "deepseek-chat",
            "gpt-5",
            "claude-sonnet-4-5",
            "kimi-k2-thinking",
        ] {
            assert!(!always_begins_in_thought(model), "{model}");
        }
    }
}
