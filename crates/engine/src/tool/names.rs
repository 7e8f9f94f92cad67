//! Names of tools, as data. A name is believed only if the arguments have what its purpose needs,
//! because any program may call a function of its own `find`.

use super::description::ToolPurpose;
use ToolPurpose::{
    Agent, Command, Edit, Fetch, List, Other, Plan, Read, Search, Todo, WebSearch, Write,
};

/// Purpose and title of the tools that agents have, by name in lower case without separators.
const TOOLS: [(&str, ToolPurpose, &str); 114] = [
    ("agent", Agent, "Sub-agent"),
    ("applieddiff", Edit, "Edit"),
    ("applydiff", Edit, "Edit"),
    ("applypatch", Edit, "Edit"),
    ("askfollowupquestion", Other, "Ask"),
    ("askuser", Other, "Ask"),
    ("askuserquestion", Other, "Ask"),
    ("bash", Command, "Run"),
    ("bashcodeexecution", Command, "Run"),
    ("bashoutput", Other, "Read command output"),
    ("codebaseinvestigator", Agent, "Sub-agent"),
    ("codebasesearch", Search, "Search"),
    ("commandexecution", Command, "Run"),
    ("create", Write, "Write"),
    ("createfile", Write, "Write"),
    ("delegatetoagent", Agent, "Sub-agent"),
    ("delete", Edit, "Delete"),
    ("deletefile", Edit, "Delete"),
    ("deletefiles", Edit, "Delete"),
    ("edit", Edit, "Edit"),
    ("editedexistingfile", Edit, "Edit"),
    ("editfile", Edit, "Edit"),
    ("editnotebook", Edit, "Edit"),
    ("editor", Edit, "Edit"),
    ("enterplanmode", Plan, "Plan"),
    ("execcommand", Command, "Run"),
    ("executecommand", Command, "Run"),
    ("exitplanmode", Plan, "Plan"),
    ("fetch", Fetch, "Fetch"),
    ("fetchpage", Fetch, "Fetch"),
    ("fetchurl", Fetch, "Fetch"),
    ("fetchwebpage", Fetch, "Fetch"),
    ("filechange", Edit, "Edit"),
    ("filedeleted", Edit, "Delete"),
    ("filesearch", Search, "Search"),
    ("find", Search, "Find"),
    ("findfiles", Search, "Find"),
    ("glob", Search, "Find"),
    ("globfilesearch", Search, "Find"),
    ("googlesearch", WebSearch, "Web search"),
    ("googlewebsearch", WebSearch, "Web search"),
    ("grep", Search, "Search"),
    ("grepsearch", Search, "Search"),
    ("imageview", Read, "View"),
    ("insertcontent", Edit, "Edit"),
    ("killbash", Other, "Stop command"),
    ("killshell", Other, "Stop command"),
    ("list", List, "List"),
    ("listdir", List, "List"),
    ("listdirectory", List, "List"),
    ("listfiles", List, "List"),
    ("listfilesrecursive", List, "List"),
    ("listfilestoplevel", List, "List"),
    ("localshell", Command, "Run"),
    ("ls", List, "List"),
    ("managetodolist", Todo, "To-do list"),
    ("move", Edit, "Move"),
    ("movefile", Edit, "Move"),
    ("multiedit", Edit, "Edit"),
    ("newfilecreated", Write, "Write"),
    ("newtask", Agent, "Sub-agent"),
    ("notebookedit", Edit, "Edit"),
    ("notebookread", Read, "Read"),
    ("patch", Edit, "Edit"),
    ("planmoderespond", Plan, "Plan"),
    ("powershell", Command, "Run"),
    ("read", Read, "Read"),
    ("readfile", Read, "Read"),
    ("readfiles", Read, "Read"),
    ("readlints", Read, "Read problems"),
    ("readmanyfiles", Read, "Read"),
    ("readtextfile", Read, "Read"),
    ("replace", Edit, "Edit"),
    ("replaceinfile", Edit, "Edit"),
    ("runcommand", Command, "Run"),
    ("runcommands", Command, "Run"),
    ("runinterminal", Command, "Run"),
    ("runshellcommand", Command, "Run"),
    ("runterminalcmd", Command, "Run"),
    ("runterminalcommand", Command, "Run"),
    ("search", Search, "Search"),
    ("searchandreplace", Edit, "Edit"),
    ("searchfilecontent", Search, "Search"),
    ("searchfiles", Search, "Search"),
    ("searchreplace", Edit, "Edit"),
    ("semsearch", Search, "Search"),
    ("shell", Command, "Run"),
    ("shellcommand", Command, "Run"),
    ("spawnagent", Agent, "Sub-agent"),
    ("strreplace", Edit, "Edit"),
    ("strreplacebasededittool", Edit, "Edit"),
    ("strreplaceeditor", Edit, "Edit"),
    ("subagent", Agent, "Sub-agent"),
    ("task", Agent, "Sub-agent"),
    ("terminal", Command, "Run"),
    ("texteditorcodeexecution", Edit, "Edit"),
    ("todolist", Todo, "To-do list"),
    ("todowrite", Todo, "To-do list"),
    ("updateplan", Plan, "Plan"),
    ("updatetodo", Todo, "To-do list"),
    ("updatetodolist", Todo, "To-do list"),
    ("updatetodos", Todo, "To-do list"),
    ("view", Read, "Read"),
    ("viewfile", Read, "Read"),
    ("viewimage", Read, "View"),
    ("webfetch", Fetch, "Fetch"),
    ("websearch", WebSearch, "Web search"),
    ("websearchpreview", WebSearch, "Web search"),
    ("write", Write, "Write"),
    ("writefile", Write, "Write"),
    ("writestdin", Other, "Type into command"),
    ("writetodos", Todo, "To-do list"),
    ("writetofile", Write, "Write"),
    ("xkeywordsearch", WebSearch, "Search X"),
];

/// Purpose and title of a tool by its name; `None` if no agent that we know has it.
pub(super) fn find_tool(name: &str) -> Option<(ToolPurpose, &'static str)> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let at = TOOLS.binary_search_by(|(known, ..)| (*known).cmp(&plain)).ok()?;
    let (_, purpose, title) = TOOLS[at];
    Some((purpose, title))
}

/// Server and tool in a name like `mcp__server__tool`.
pub(super) fn split_mcp_name(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// A name in plain words: separators are spaces.
pub(super) fn to_words(name: &str) -> String {
    name.split(['_', '-', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_each_name_once() {
        let sorted: Vec<&str> = TOOLS.iter().map(|(name, ..)| *name).collect();
        let unsorted = sorted.windows(2).find(|pair| pair[1] <= pair[0]);
        assert_eq!(unsorted, None);
    }
}
