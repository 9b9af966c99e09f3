//! Prints a list of commands as a kernel.

use std::fmt::Write;

use crate::command::{AGENTS, Command, SLOTS, Scope};

/// Number of threads of a cta.
pub(crate) const BLOCK: u32 = 64;

/// Bytes of a word.
const WORD: usize = 16;

/// Returns the kernel, and for each of its lines the number of the command there; lines are counted from 1. `meets`: whether a
/// barrier of the cluster stands in front of the list.
pub(crate) fn kernel(commands: &[Command], meets: bool) -> (String, Vec<Option<usize>>) {
    let mut text = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 from) .reqnctapercluster 2, 1, 1\n{\n\
         .reg .pred %p, %done;\n.reg .b16 %mask;\n.reg .b32 %thread, %rank, %bit, %own, %value, %words, %full, %peer;\n\
         .reg .b64 %from;\n",
    );
    let mut line = |own: String| {
        writeln!(text, "{own}").expect("strings can be written");
    };
    line(format!(".shared .align 16 .b8 words[{}];", SLOTS * WORD));
    line(format!(".shared .align 8 .b64 full[{}];", commands.len()));
    line("ld.param.u64 %from, [from];".to_owned());
    line("mov.u32 %words, words;\nmov.u32 %full, full;".to_owned());
    line("mov.u32 %thread, %tid.x;\nmov.u32 %rank, %cluster_ctarank;".to_owned());
    line("mad.lo.u32 %thread, %rank, 1024, %thread;\nmov.u32 %bit, 0;".to_owned());
    for (at, (cta, thread)) in AGENTS.iter().enumerate() {
        let own = cta * 1024 + *thread as usize;
        line(format!("setp.eq.u32 %p, %thread, {own};\n@%p mov.u32 %bit, {};", 1 << at));
    }
    line("setp.ne.u32 %p, %tid.x, 0;\n@%p bra READY;".to_owned());
    for (at, command) in commands.iter().enumerate() {
        if matches!(command, Command::Receive(..) | Command::Send(..)) {
            line(format!("mbarrier.init.shared.b64 [full+{}], 1;", 8 * at));
        }
    }
    line("READY:".to_owned());
    if meets {
        line("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;".to_owned());
    }
    let mut numbers = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        numbers.resize(text.lines().count() + 1, None);
        text.push_str(&of(at, *command, commands));
        numbers.resize(text.lines().count() + 1, Some(at));
    }
    text.push_str("ret;\n}\n");
    numbers.resize(text.lines().count() + 1, None);
    (text, numbers)
}

/// Selects an agent: its predicate is true.
fn select(agent: usize) -> String {
    format!("and.b32 %own, %bit, {};\nsetp.ne.u32 %p, %own, 0;\n", 1 << agent)
}

/// Selects all lanes of an agent's warp.
fn select_warp(agent: usize) -> String {
    let first = AGENTS[agent].0 * 1024 + AGENTS[agent].1 as usize;
    format!("and.b32 %own, %thread, 4064;\nsetp.eq.u32 %p, %own, {first};\n")
}

/// Makes the address of a cta's shared memory that lies as a register says.
fn mapped(register: &str, cta: usize) -> String {
    format!("mapa.shared::cluster.u32 %peer, {register}, {cta};\n")
}

/// An access by an agent to a word: to its own memory, or to that of the other cta.
fn access(agent: usize, (cta, slot): (usize, usize), of: impl Fn(&str, &str) -> String) -> String {
    let at = slot * WORD;
    if AGENTS[agent].0 == cta {
        return format!("{}@%p {}\n", select(agent), of("shared", &format!("[words+{at}]")));
    }
    let (map, one) = (mapped("%words", cta), select(agent));
    format!("{map}{one}@%p {}\n", of("shared::cluster", &format!("[%peer+{at}]")))
}

/// Lets the selected agent arrive at an object of a cta, which expects bytes before.
fn expect(cta: usize, object: usize, bytes: usize) -> String {
    format!(
        "{}@%p mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%peer+{}], {bytes};\n",
        mapped("%full", cta),
        8 * object
    )
}

/// Lets an agent wait for the first phase of an object in its cta.
fn wait(at: usize, agent: usize, object: usize) -> String {
    format!(
        "{}@!%p bra NEXT{at};\nWAIT{at}:\n\
         mbarrier.try_wait.parity.acquire.cluster.shared.b64 %done, [full+{}], 0;\n\
         @!%done bra WAIT{at};\nNEXT{at}:\n",
        select(agent),
        8 * object
    )
}

fn of(at: usize, command: Command, commands: &[Command]) -> String {
    let simple = |agent: usize, text: &str| format!("{}@%p {text};\n", select(agent));
    match command {
        Command::Store(agent, word) => {
            access(agent, word, |space, place| format!("st.{space}.u32 {place}, {};", at + 1))
        }
        Command::Load(agent, word) => {
            access(agent, word, |space, place| format!("ld.{space}.u32 %value, {place};"))
        }
        Command::Add(agent, word, scope) => access(agent, word, |space, place| {
            let scope = if scope == Scope::Cta { "cta" } else { "cluster" };
            format!("red.relaxed.{scope}.{space}.add.u32 {place}, 1;")
        }),
        Command::Fence(agent) => simple(agent, "fence.acq_rel.cluster"),
        Command::FenceProxies(agent) => simple(agent, "fence.proxy.async"),
        Command::Init(agent) => {
            simple(agent, &format!("mbarrier.init.shared.b64 [full+{}], 1", 8 * at))
        }
        Command::FenceInits(agent) => simple(agent, "fence.mbarrier_init.release.cluster"),
        Command::Arrive(agent, object) => {
            let owner = commands[object].agent().expect("one agent does it");
            format!(
                "{}{}@%p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%peer+{}];\n",
                mapped("%full", AGENTS[owner].0),
                select(agent),
                8 * object
            )
        }
        Command::Await(agent, object) | Command::AwaitCopy(agent, object) => {
            wait(at, agent, object)
        }
        Command::Meet(cta) => {
            format!("setp.eq.u32 %p, %rank, {cta};\n@%p bar.sync 0;\n")
        }
        Command::ClusterArrive(agent, is_relaxed) => {
            let how = if is_relaxed { ".relaxed" } else { "" };
            format!("{}@%p barrier.cluster.arrive{how};\n", select_warp(agent))
        }
        Command::ClusterWait(agent) => {
            format!("{}@%p barrier.cluster.wait;\n", select_warp(agent))
        }
        Command::Receive(agent, mask, slot) => receive(at, agent, mask, slot),
        Command::Send(agent, from, to) => send(at, agent, from, to),
    }
}

/// A copy from global memory to the word of a number in some ctas.
fn receive(at: usize, agent: usize, mask: u32, slot: usize) -> String {
    let ctas: Vec<usize> = (0..2).filter(|cta| mask >> cta & 1 == 1).collect();
    let expected: String = ctas.iter().map(|cta| expect(*cta, at, WORD)).collect();
    let all = select(agent) + &expected;
    let (to, object) = (slot * WORD, 8 * at);
    let [cta] = ctas[..] else {
        return format!(
            "{all}mov.u16 %mask, 3;\n\
             @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
             [words+{to}], [%from], {WORD}, [full+{object}], %mask;\n"
        );
    };
    let (own, peer) = (mapped("%full", cta), mapped("%words", cta));
    format!(
        "{all}{own}add.u32 %own, %peer, {object};\n{peer}add.u32 %peer, %peer, {to};\n\
         @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \
         [%peer], [%from], {WORD}, [%own];\n"
    )
}

/// A copy from the word of a number to a word of some cta.
fn send(at: usize, agent: usize, from: usize, (cta, slot): (usize, usize)) -> String {
    let (object, to, from) = (8 * at, slot * WORD, from * WORD);
    let (own, peer) = (mapped("%full", cta), mapped("%words", cta));
    format!(
        "{}{}{own}add.u32 %own, %peer, {object};\n{peer}add.u32 %peer, %peer, {to};\n\
         @%p cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes \
         [%peer], [words+{from}], {WORD}, [%own];\n",
        select(agent),
        expect(cta, at, WORD)
    )
}
