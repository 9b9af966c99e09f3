//! The table of instructions. Everything that depends on an instruction's name derives from it: its operands, how the
//! slice follows it, the family of the machine that runs it, and the printed support table.
//!
//! A shape has one letter per operand: `d` is written, `s` is read, `m` is an address, `l` is a label or a name, `*`
//! stands for any number of further `s`.

use super::Effect::{
    self, Answer, Asynchronous, Atomic, Barrier, Branch, BulkCopy, Call, ClusterBarrier, Compute,
    CopyGroup, Exchange, Exit, Load, Mbarrier, MbarrierWait, MemoryFence, Multiply, Nothing,
    Opaque, ProxyFence, RegisterCount, Return, Store, TakeOver, TensorMemory, WarpBarrier,
};
use super::Family::{
    self, Access, Arithmetic, Bits, Compare, Control, Convert, Fence, Matrix, Move,
    Synchronization, Texture, Video, Warp,
};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionRow {
    /// The opcode that the machine dispatches on.
    pub opcode: Opcode,
    /// The words that start the mnemonic.
    pub pattern: &'static str,
    /// The kinds of its operands, one letter each.
    pub shape: &'static str,
    /// The group of instructions that it belongs to.
    pub family: Family,
    /// What it does to the state.
    pub effect: Effect,
    /// Section of the PTX ISA manual, version 9.1.
    pub section: &'static str,
}

macro_rules! table {
    ($($opcode:ident $pattern:literal $shape:literal $family:ident $effect:ident $section:literal;)*) => {
        /// An instruction's name without its modifiers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the manual's")]
        pub enum Opcode { $($opcode,)* }

        /// All rows; of two patterns that fit a mnemonic, the longer one counts.
        pub const TABLE: &[InstructionRow] = &[$(InstructionRow {
            opcode: Opcode::$opcode, pattern: $pattern, shape: $shape, family: $family, effect: $effect,
            section: $section,
        },)*];
    };
}

table! {
    Add "add" "dss" Arithmetic Compute "9.7.1.1";
    Sub "sub" "dss" Arithmetic Compute "9.7.1.2";
    Mul "mul" "dss" Arithmetic Compute "9.7.1.3";
    Mad "mad" "dsss" Arithmetic Compute "9.7.1.4";
    Mul24 "mul24" "dss" Arithmetic Compute "9.7.1.5";
    Mad24 "mad24" "dsss" Arithmetic Compute "9.7.1.6";
    Sad "sad" "dsss" Arithmetic Compute "9.7.1.7";
    Div "div" "dss" Arithmetic Compute "9.7.1.8";
    Rem "rem" "dss" Arithmetic Compute "9.7.1.9";
    Abs "abs" "ds" Arithmetic Compute "9.7.1.10";
    Neg "neg" "ds" Arithmetic Compute "9.7.1.11";
    Min "min" "dss*" Arithmetic Compute "9.7.1.12";
    Max "max" "dss*" Arithmetic Compute "9.7.1.13";
    Popc "popc" "ds" Bits Compute "9.7.1.14";
    Clz "clz" "ds" Bits Compute "9.7.1.15";
    Bfind "bfind" "ds" Bits Compute "9.7.1.16";
    Fns "fns" "dsss" Bits Compute "9.7.1.17";
    Brev "brev" "ds" Bits Compute "9.7.1.18";
    Bfe "bfe" "dsss" Bits Compute "9.7.1.19";
    Bfi "bfi" "dssss" Bits Compute "9.7.1.20";
    Szext "szext" "dss" Bits Compute "9.7.1.21";
    Bmsk "bmsk" "dss" Bits Compute "9.7.1.22";
    Dp4a "dp4a" "dsss" Arithmetic Compute "9.7.1.23";
    Dp2a "dp2a" "dsss" Arithmetic Compute "9.7.1.24";
    Addc "addc" "dss" Arithmetic Compute "9.7.2.2";
    Subc "subc" "dss" Arithmetic Compute "9.7.2.4";
    Madc "madc" "dsss" Arithmetic Compute "9.7.2.6";
    Testp "testp" "ds" Arithmetic Compute "9.7.3.1";
    Copysign "copysign" "dss" Arithmetic Compute "9.7.3.2";
    Fma "fma" "dsss" Arithmetic Compute "9.7.3.6";
    Rcp "rcp" "ds" Arithmetic Compute "9.7.3.13";
    Sqrt "sqrt" "ds" Arithmetic Compute "9.7.3.15";
    Rsqrt "rsqrt" "ds" Arithmetic Opaque "9.7.3.16";
    Sin "sin" "ds" Arithmetic Opaque "9.7.3.18";
    Cos "cos" "ds" Arithmetic Opaque "9.7.3.19";
    Lg2 "lg2" "ds" Arithmetic Opaque "9.7.3.20";
    Ex2 "ex2" "ds" Arithmetic Opaque "9.7.3.21";
    Tanh "tanh" "ds" Arithmetic Opaque "9.7.3.22";
    Set "set" "dss*" Compare Compute "9.7.6.1";
    Setp "setp" "dss*" Compare Compute "9.7.6.2";
    Selp "selp" "dsss" Compare Compute "9.7.6.3";
    Slct "slct" "dsss" Compare Compute "9.7.6.4";
    And "and" "dss" Bits Compute "9.7.8.1";
    Or "or" "dss" Bits Compute "9.7.8.2";
    Xor "xor" "dss" Bits Compute "9.7.8.3";
    Not "not" "ds" Bits Compute "9.7.8.4";
    Cnot "cnot" "ds" Bits Compute "9.7.8.5";
    Lop3 "lop3" "dssss*" Bits Compute "9.7.8.6";
    Shf "shf" "dsss" Bits Compute "9.7.8.7";
    Shl "shl" "dss" Bits Compute "9.7.8.8";
    Shr "shr" "dss" Bits Compute "9.7.8.9";
    Mov "mov" "ds" Move Compute "9.7.9.3";
    Shfl "shfl" "dsss*" Warp Exchange "9.7.9.5";
    Prmt "prmt" "dsss" Bits Compute "9.7.9.7";
    Ld "ld" "dm*" Access Load "9.7.9.8";
    Ldu "ldu" "dm" Access Load "9.7.9.10";
    St "st" "ms*" Access Store "9.7.9.11";
    StAsync "st.async" "ms*" Access Asynchronous "9.7.9.12";
    StBulk "st.bulk" "ms*" Access Asynchronous "9.7.9.13";
    Multimem "multimem" "s*" Access Asynchronous "9.7.9.14";
    Prefetch "prefetch" "s*" Move Nothing "9.7.9.15";
    Prefetchu "prefetchu" "s*" Move Nothing "9.7.9.15";
    Applypriority "applypriority" "s*" Move Nothing "9.7.9.16";
    Discard "discard" "ms*" Access Asynchronous "9.7.9.17";
    Createpolicy "createpolicy" "ds*" Move Opaque "9.7.9.18";
    Isspacep "isspacep" "ds" Move Compute "9.7.9.19";
    Cvta "cvta" "ds" Move Compute "9.7.9.20";
    Cvt "cvt" "ds*" Convert Compute "9.7.9.21";
    CvtPack "cvt.pack" "dss*" Convert Compute "9.7.9.22";
    Mapa "mapa" "dss" Move Opaque "9.7.9.23";
    Getctarank "getctarank" "ds" Move Opaque "9.7.9.24";
    CpAsync "cp.async" "mms*" Access Asynchronous "9.7.9.25";
    BulkLoad "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" "mmsm*" Access BulkCopy "9.7.9.25.4.1";
    BulkPeer "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" "mmsm*" Access BulkCopy "9.7.9.25.4.1";
    BulkLoadCta "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes" "mmsm*" Access BulkCopy "9.7.9.25.4.1";
    CpAsyncCommit "cp.async.commit_group" "" Access CopyGroup "9.7.9.25.3.2";
    CpAsyncWait "cp.async.wait_group" "s" Access CopyGroup "9.7.9.25.3.3";
    CpAsyncWaitAll "cp.async.wait_all" "" Access CopyGroup "9.7.9.25.3.3";
    BulkStore "cp.async.bulk.global.shared::cta.bulk_group" "mms*" Access BulkCopy "9.7.9.25.4.1";
    CpAsyncBulkCommit "cp.async.bulk.commit_group" "" Access CopyGroup "9.7.9.25.6.1";
    CpAsyncBulkWait "cp.async.bulk.wait_group" "s" Access CopyGroup "9.7.9.25.6.2";
    CpAsyncBulkWaitRead "cp.async.bulk.wait_group.read" "s" Access CopyGroup "9.7.9.25.6.2";
    CpAsyncBulkPrefetch "cp.async.bulk.prefetch" "s*" Move Nothing "9.7.9.25.4.3";
    CpReduce "cp.reduce" "mms*" Access Asynchronous "9.7.9.25.4.2";
    BulkReduce "cp.reduce.async.bulk.global.shared::cta.bulk_group" "mms*" Access BulkCopy "9.7.9.25.4.2";
    TensorCopy "cp.async.bulk.tensor" "mm*" Access BulkCopy "9.7.9.25.5.2";
    TensorReduce "cp.reduce.async.bulk.tensor" "mm*" Access BulkCopy "9.7.9.25.5.3";
    Tensormap "tensormap" "s*" Access Asynchronous "9.7.9.26";
    Tex "tex" "ds*" Texture Opaque "9.7.10.3";
    Tld4 "tld4" "ds*" Texture Opaque "9.7.10.4";
    Txq "txq" "ds*" Texture Opaque "9.7.10.5";
    Istypep "istypep" "ds" Texture Opaque "9.7.10.6";
    Suld "suld" "ds*" Texture Opaque "9.7.11.1";
    Sust "sust" "s*" Texture Asynchronous "9.7.11.2";
    Sured "sured" "s*" Texture Asynchronous "9.7.11.3";
    Suq "suq" "ds*" Texture Opaque "9.7.11.4";
    Bra "bra" "l" Control Branch "9.7.12.3";
    BrxIdx "brx.idx" "sl" Control Branch "9.7.12.4";
    Call "call" "*" Control Call "9.7.12.5";
    Ret "ret" "" Control Return "9.7.12.6";
    Exit "exit" "" Control Exit "9.7.12.7";
    Bar "bar" "s*" Synchronization Barrier "9.7.13.1";
    BarRed "bar.red" "ds*" Synchronization Barrier "9.7.13.1";
    BarCtaRed "bar.cta.red" "ds*" Synchronization Barrier "9.7.13.1";
    BarrierCta "barrier" "s*" Synchronization Barrier "9.7.13.1";
    BarrierRed "barrier.red" "ds*" Synchronization Barrier "9.7.13.1";
    BarrierCtaRed "barrier.cta.red" "ds*" Synchronization Barrier "9.7.13.1";
    BarWarp "bar.warp.sync" "s" Synchronization WarpBarrier "9.7.13.2";
    ClusterArrive "barrier.cluster.arrive" "" Synchronization ClusterBarrier "9.7.13.3";
    ClusterWait "barrier.cluster.wait" "" Synchronization ClusterBarrier "9.7.13.3";
    Membar "membar" "" Fence MemoryFence "9.7.13.4";
    Fence "fence" "s*" Fence MemoryFence "9.7.13.4";
    FenceProxyAsync "fence.proxy.async" "" Fence ProxyFence "9.7.13.4";
    Atom "atom" "dms*" Access Atomic "9.7.13.5";
    AtomNoReturn "red" "ms*" Access Atomic "9.7.13.7";
    RedAsync "red.async" "ms*" Access Asynchronous "9.7.13.8";
    Vote "vote" "ds*" Warp Exchange "9.7.13.9";
    Match "match" "ds*" Warp Exchange "9.7.13.10";
    Activemask "activemask" "d" Warp Exchange "9.7.13.11";
    Redux "redux" "ds*" Warp Exchange "9.7.13.12";
    Griddepcontrol "griddepcontrol" "" Synchronization Nothing "9.7.13.13";
    Elect "elect" "ds" Warp Exchange "9.7.13.14";
    MbarrierOther "mbarrier" "s*" Synchronization Asynchronous "9.7.13.15";
    MbarrierInit "mbarrier.init" "ms" Synchronization Mbarrier "9.7.13.15.9";
    MbarrierInval "mbarrier.inval" "m" Synchronization Mbarrier "9.7.13.15.10";
    MbarrierExpect "mbarrier.expect_tx" "ms" Synchronization Mbarrier "9.7.13.15.11";
    MbarrierComplete "mbarrier.complete_tx" "ms" Synchronization Mbarrier "9.7.13.15.12";
    MbarrierArrive "mbarrier.arrive" "dm*" Synchronization Mbarrier "9.7.13.15.13";
    MbarrierDrop "mbarrier.arrive_drop" "dm*" Synchronization Mbarrier "9.7.13.15.14";
    CpAsyncArrive "cp.async.mbarrier.arrive" "m" Synchronization Mbarrier "9.7.13.15.15";
    MbarrierTest "mbarrier.test_wait" "dms" Synchronization MbarrierWait "9.7.13.15.16";
    MbarrierTry "mbarrier.try_wait" "dms*" Synchronization MbarrierWait "9.7.13.15.16";
    MbarrierPending "mbarrier.pending_count" "ds" Synchronization Opaque "9.7.13.15.17";
    Clusterlaunchcontrol "clusterlaunchcontrol" "s*" Synchronization Asynchronous "9.7.13.17";
    TryCancel "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" "ms*" Synchronization TakeOver "9.7.13.17.1";
    TryCancelForAll "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all" "ms*" Synchronization TakeOver "9.7.13.17.1";
    IsCanceled "clusterlaunchcontrol.query_cancel.is_canceled" "ds" Synchronization Answer "9.7.13.17.2";
    FirstCtaid "clusterlaunchcontrol.query_cancel.get_first_ctaid" "ds" Synchronization Answer "9.7.13.17.2";
    FirstCtaidX "clusterlaunchcontrol.query_cancel.get_first_ctaid::x" "ds" Synchronization Answer "9.7.13.17.2";
    FirstCtaidY "clusterlaunchcontrol.query_cancel.get_first_ctaid::y" "ds" Synchronization Answer "9.7.13.17.2";
    FirstCtaidZ "clusterlaunchcontrol.query_cancel.get_first_ctaid::z" "ds" Synchronization Answer "9.7.13.17.2";
    WmmaLoad "wmma.load" "dms*" Matrix Asynchronous "9.7.14.4.3";
    WmmaStore "wmma.store" "ms*" Matrix Asynchronous "9.7.14.4.4";
    WmmaMma "wmma.mma" "ds*" Matrix Opaque "9.7.14.4.5";
    Mma "mma" "ds*" Matrix Opaque "9.7.14.5";
    Ldmatrix "ldmatrix" "dm" Matrix Asynchronous "9.7.14.5.15";
    Stmatrix "stmatrix" "ms" Matrix Asynchronous "9.7.14.5.16";
    Movmatrix "movmatrix" "ds" Matrix Opaque "9.7.14.5.17";
    Wgmma "wgmma" "s*" Matrix Asynchronous "9.7.15";
    WgmmaDense "wgmma.mma_async" "dss*" Matrix Multiply "9.7.15.5.2";
    WgmmaSparse "wgmma.mma_async.sp" "dss*" Matrix Multiply "9.7.15.6";
    WgmmaFence "wgmma.fence" "" Matrix Nothing "9.7.15.7.1";
    WgmmaCommit "wgmma.commit_group" "" Matrix CopyGroup "9.7.15.7.2";
    WgmmaWait "wgmma.wait_group" "s" Matrix CopyGroup "9.7.15.7.3";
    Tcgen05 "tcgen05" "s*" Matrix Asynchronous "9.7.16";
    TensorAlloc "tcgen05.alloc" "ms" Matrix TensorMemory "9.7.16.7";
    TensorDealloc "tcgen05.dealloc" "ss" Matrix TensorMemory "9.7.16.7";
    TensorRelinquish "tcgen05.relinquish_alloc_permit" "" Matrix TensorMemory "9.7.16.7";
    TensorLoad "tcgen05.ld" "ds*" Matrix TensorMemory "9.7.16.8";
    TensorStore "tcgen05.st" "ss*" Matrix TensorMemory "9.7.16.8";
    TensorWaitLoad "tcgen05.wait::ld" "" Matrix TensorMemory "9.7.16.8";
    TensorWaitStore "tcgen05.wait::st" "" Matrix TensorMemory "9.7.16.8";
    TensorFill "tcgen05.cp" "ss" Matrix TensorMemory "9.7.16.9";
    TensorShift "tcgen05.shift" "s" Matrix TensorMemory "9.7.16.9";
    TensorProduct "tcgen05.mma" "ssss*" Matrix TensorMemory "9.7.16.10";
    TensorFence "tcgen05.fence" "" Matrix Nothing "9.7.16.11";
    TensorCommit "tcgen05.commit" "m*" Matrix Mbarrier "9.7.16.12";
    Stacksave "stacksave" "d" Move Opaque "9.7.17.1";
    Stackrestore "stackrestore" "s" Move Nothing "9.7.17.2";
    Alloca "alloca" "ds*" Move Opaque "9.7.17.3";
    Vadd "vadd" "ds*" Video Opaque "9.7.18.1";
    Vsub "vsub" "ds*" Video Opaque "9.7.18.1";
    Vabsdiff "vabsdiff" "ds*" Video Opaque "9.7.18.1";
    Vmin "vmin" "ds*" Video Opaque "9.7.18.1";
    Vmax "vmax" "ds*" Video Opaque "9.7.18.1";
    Vshl "vshl" "ds*" Video Opaque "9.7.18.1";
    Vshr "vshr" "ds*" Video Opaque "9.7.18.1";
    Vmad "vmad" "ds*" Video Opaque "9.7.18.1";
    Vset "vset" "ds*" Video Opaque "9.7.18.1";
    Vadd2 "vadd2" "ds*" Video Opaque "9.7.18.2";
    Vsub2 "vsub2" "ds*" Video Opaque "9.7.18.2";
    Vavrg2 "vavrg2" "ds*" Video Opaque "9.7.18.2";
    Vabsdiff2 "vabsdiff2" "ds*" Video Opaque "9.7.18.2";
    Vmin2 "vmin2" "ds*" Video Opaque "9.7.18.2";
    Vmax2 "vmax2" "ds*" Video Opaque "9.7.18.2";
    Vset2 "vset2" "ds*" Video Opaque "9.7.18.2";
    Vadd4 "vadd4" "ds*" Video Opaque "9.7.18.3";
    Vsub4 "vsub4" "ds*" Video Opaque "9.7.18.3";
    Vavrg4 "vavrg4" "ds*" Video Opaque "9.7.18.3";
    Vabsdiff4 "vabsdiff4" "ds*" Video Opaque "9.7.18.3";
    Vmin4 "vmin4" "ds*" Video Opaque "9.7.18.3";
    Vmax4 "vmax4" "ds*" Video Opaque "9.7.18.3";
    Vset4 "vset4" "ds*" Video Opaque "9.7.18.3";
    Brkpt "brkpt" "" Control Nothing "9.7.19.1";
    Nanosleep "nanosleep" "s" Control Nothing "9.7.19.2";
    Pmevent "pmevent" "s*" Control Nothing "9.7.19.3";
    Trap "trap" "" Control Exit "9.7.19.4";
    Setmaxnreg "setmaxnreg" "s" Control RegisterCount "9.7.19.5";
}
