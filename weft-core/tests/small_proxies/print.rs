//! Prints a list of commands as a kernel.

use std::fmt::Write;

use crate::command::{AGENTS, Command, SLOTS, Set};

/// Number of threads of the cta.
pub(crate) const BLOCK: u32 = 64;

/// Bytes of a word.
const WORD: usize = 16;

/// Returns the kernel, and for each of its lines the number of the command there; lines are counted from 1.
pub(crate) fn kernel(commands: &[Command]) -> (String, Vec<Option<usize>>) {
    let mut text = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u64 from)\n{\n\
         .reg .pred %p, %done;\n.reg .b32 %thread, %bit, %own, %value;\n.reg .b64 %to, %from;\n",
    );
    let mut line = |own: String| {
        writeln!(text, "{own}").expect("strings can be written");
    };
    line(format!(".shared .align 16 .b8 words[{}];", SLOTS * WORD));
    line(format!(".shared .align 8 .b64 full[{}];", commands.len()));
    line("ld.param.u64 %to, [to];\nld.param.u64 %from, [from];".to_owned());
    line("mov.u32 %thread, %tid.x;\nmov.u32 %bit, 0;".to_owned());
    for (at, thread) in AGENTS.iter().enumerate() {
        line(format!("setp.eq.u32 %p, %thread, {thread};\n@%p mov.u32 %bit, {};", 1 << at));
    }
    line("setp.ne.u32 %p, %thread, 0;\n@%p bra READY;".to_owned());
    for (at, command) in commands.iter().enumerate() {
        if matches!(command, Command::Receive(..)) {
            line(format!("mbarrier.init.shared.b64 [full+{}], 1;", 8 * at));
        }
    }
    line("READY:\nbar.sync 0;".to_owned());
    let mut numbers = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        numbers.resize(text.lines().count() + 1, None);
        let written = of(at, *command);
        text.push_str(&written);
        numbers.resize(text.lines().count() + 1, Some(at));
    }
    text.push_str("ret;\n}\n");
    numbers.resize(text.lines().count() + 1, None);
    (text, numbers)
}

/// Selects agents: their predicate is true.
fn select(set: Set) -> String {
    format!("and.b32 %own, %bit, {set};\nsetp.ne.u32 %p, %own, 0;\n")
}

fn of(at: usize, command: Command) -> String {
    let one = |agent: usize| select(1 << agent);
    let place = |slot: usize| format!("[words+{}]", slot * WORD);
    let bytes = |(first, end): (usize, usize)| (end - first) * WORD;
    match command {
        Command::Store(agent, slot) => {
            format!("{}@%p st.shared.u32 {}, {};\n", one(agent), place(slot), at + 1)
        }
        Command::Load(agent, slot) => {
            format!("{}@%p ld.shared.u32 %value, {};\n", one(agent), place(slot))
        }
        Command::Fence(set) => format!("{}@%p fence.proxy.async;\n", select(set)),
        Command::Meet => "bar.sync 0;\n".to_owned(),
        Command::MeetWarp(warp) => {
            format!(
                "shr.u32 %own, %thread, 5;\nsetp.eq.u32 %p, %own, {warp};\n@%p bar.warp.sync -1;\n"
            )
        }
        Command::Send(agent, slots) => format!(
            "{}@%p cp.async.bulk.global.shared::cta.bulk_group [%to+{}], {}, {};\n",
            one(agent),
            at * SLOTS * WORD,
            place(slots.0),
            bytes(slots)
        ),
        Command::Sent(agent) => format!(
            "{}@%p cp.async.bulk.commit_group;\n@%p cp.async.bulk.wait_group.read 0;\n",
            one(agent)
        ),
        Command::Receive(agent, slots) => format!(
            "{}@%p mbarrier.arrive.expect_tx.shared.b64 _, [full+{}], {};\n\
             @%p cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes {}, [%from], {}, [full+{}];\n",
            one(agent),
            8 * at,
            bytes(slots),
            place(slots.0),
            bytes(slots),
            8 * at
        ),
        Command::Await(agent, received) => format!(
            "{}@!%p bra NEXT{at};\nWAIT{at}:\nmbarrier.try_wait.parity.shared.b64 %done, [full+{}], 0;\n\
             @!%done bra WAIT{at};\nNEXT{at}:\n",
            one(agent),
            8 * received
        ),
    }
}
