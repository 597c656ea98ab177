//! The words that opcodes are made of: what an instruction does, and how.

macro_rules! words {
    ($(#[$attribute:meta])* $name:ident { $($variant:ident $word:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "by their words in PTX")]
        pub enum $name { $($variant,)* }

        impl $name {
            /// Its word in PTX.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// What has this word.
            pub(super) fn named(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// What an instruction does: the first word of its opcode.
    Mnemonic {
        Abs "abs", Add "add", And "and", Atom "atom", Bar "bar", Barrier "barrier", Bfe "bfe", Bra "bra", Brev "brev", Call "call", Clz "clz", Cos "cos", Cp "cp", Createpolicy "createpolicy",
        Cvt "cvt", Cvta "cvta", Div "div", Ex2 "ex2", Fence "fence", Fma "fma", Griddepcontrol "griddepcontrol", Ld "ld", Ldmatrix "ldmatrix", Lg2 "lg2", Mad "mad", Mapa "mapa", Match "match", Max "max", Mbarrier "mbarrier", Membar "membar",
        Min "min", Mma "mma", Mov "mov", Mul "mul", Neg "neg", Not "not", Or "or", Popc "popc", Prmt "prmt", Rcp "rcp", Red "red", Rem "rem",
        Ret "ret", Rsqrt "rsqrt", Selp "selp", Setmaxnreg "setmaxnreg", Setp "setp", Shf "shf", Shfl "shfl", Shl "shl", Shr "shr", Sin "sin", Sqrt "sqrt",
        St "st", Stmatrix "stmatrix", Sub "sub", Tanh "tanh", Tex "tex", Trap "trap", Vabsdiff4 "vabsdiff4", Vote "vote", Wgmma "wgmma", Xor "xor",
    }
}

words! {
    /// A further word of an opcode: a modifier or a type.
    Word {
        // Types.
        Pred "pred", B8 "b8", B16 "b16", B32 "b32", B64 "b64", U8 "u8", U16 "u16", U32 "u32", U64 "u64",
        S8 "s8", S16 "s16", S32 "s32", S64 "s64", F16 "f16", F16x2 "f16x2", Bf16 "bf16", Bf16x2 "bf16x2", Tf32 "tf32", E4m3 "e4m3", E5m2 "e5m2", E4m3x2 "e4m3x2", E5m2x2 "e5m2x2", F32 "f32", F64 "f64",
        // Memory.
        Param "param", Global "global", Const "const", Shared "shared", Local "local", Nc "nc", To "to", V2 "v2", V4 "v4", D2 "2d", D3 "3d",
        // Rounding, precision.
        Rn "rn", Rz "rz", Rzi "rzi", Rmi "rmi", Rpi "rpi", Rni "rni", Approx "approx", Ftz "ftz", Satfinite "satfinite",
        // Parts of products, and how shifts go.
        Lo "lo", Hi "hi", Wide "wide", L "l", R "r", Wrap "wrap",
        // Comparisons.
        Eq "eq", Ne "ne", Neu "neu", Lt "lt", Le "le", Gt "gt", Ge "ge", Num "num",
        // What atomics, reductions and video instructions do with what is there.
        Add "add", Min "min", Max "max", And "and", Or "or", Xor "xor", Exch "exch", Cas "cas", Popc "popc", Red "red",
        // Of threads together.
        Sync "sync", Idx "idx", Up "up", Down "down", Bfly "bfly", Ballot "ballot", Any "any", All "all",
        Warp "warp", Cta "cta", Gl "gl", Gpu "gpu", Sys "sys",
        // Copies that go on by themselves.
        Async "async", Ca "ca", Cg "cg", CommitGroup "commit_group", WaitGroup "wait_group",
        Bulk "bulk", BulkGroup "bulk_group", Read "read", Tensor "tensor", CompleteTx "mbarrier::complete_tx::bytes", Multicast "multicast::cluster", SharedCta "shared::cta", SharedCluster "shared::cluster",
        Init "init", Arrive "arrive", ExpectTx "expect_tx", TryWait "try_wait", Parity "parity",
        Inc "inc", Dec "dec", Aligned "aligned",
        MbarrierInit "mbarrier_init", Proxy "proxy", Cluster "cluster",
        // Tensor cores.
        M8n8 "m8n8", M8n8k4 "m8n8k4", M16n8k8 "m16n8k8", M8n8k16 "m8n8k16", M16n8k16 "m16n8k16", M16n8k32 "m16n8k32", Row "row", Col "col",
        Fence "fence", X1 "x1", X2 "x2", X4 "x4", Trans "trans", Rna "rna", MmaAsync "mma_async",
        M64n16k8 "m64n16k8", M64n32k8 "m64n32k8", M64n48k8 "m64n48k8", M64n64k8 "m64n64k8", M64n80k8 "m64n80k8", M64n96k8 "m64n96k8", M64n112k8 "m64n112k8", M64n128k8 "m64n128k8", M64n144k8 "m64n144k8", M64n160k8 "m64n160k8", M64n176k8 "m64n176k8", M64n192k8 "m64n192k8", M64n208k8 "m64n208k8", M64n224k8 "m64n224k8", M64n240k8 "m64n240k8", M64n256k8 "m64n256k8",
        M64n16k16 "m64n16k16", M64n32k16 "m64n32k16", M64n48k16 "m64n48k16", M64n64k16 "m64n64k16", M64n80k16 "m64n80k16", M64n96k16 "m64n96k16", M64n112k16 "m64n112k16", M64n128k16 "m64n128k16", M64n144k16 "m64n144k16", M64n160k16 "m64n160k16", M64n176k16 "m64n176k16", M64n192k16 "m64n192k16", M64n208k16 "m64n208k16", M64n224k16 "m64n224k16", M64n240k16 "m64n240k16", M64n256k16 "m64n256k16",
        M64n16k32 "m64n16k32", M64n32k32 "m64n32k32", M64n48k32 "m64n48k32", M64n64k32 "m64n64k32", M64n80k32 "m64n80k32", M64n96k32 "m64n96k32", M64n112k32 "m64n112k32", M64n128k32 "m64n128k32", M64n144k32 "m64n144k32", M64n160k32 "m64n160k32", M64n176k32 "m64n176k32", M64n192k32 "m64n192k32", M64n208k32 "m64n208k32", M64n224k32 "m64n224k32", M64n240k32 "m64n240k32", M64n256k32 "m64n256k32",
        // Kernels that follow each other.
        Wait "wait", LaunchDependents "launch_dependents",
        // Caches.
        Cs "cs", Lu "lu", L1EvictFirst "L1::evict_first", L1EvictLast "L1::evict_last", L1NoAllocate "L1::no_allocate",
        L2CacheHint "L2::cache_hint", L2EvictFirst "L2::evict_first", L2EvictLast "L2::evict_last", Fractional "fractional",
        // What accesses order.
        Relaxed "relaxed", Acquire "acquire", Release "release", AcqRel "acq_rel", Sc "sc", Volatile "volatile",
    }
}

impl Mnemonic {
    /// Whether its first operand may be written; `bar` writes one where it reduces, `mbarrier` where it tests.
    pub(super) fn has_result(self) -> bool {
        use Mnemonic::*;
        !matches!(
            self,
            St | Stmatrix
                | Cp
                | Red
                | Bar
                | Barrier
                | Mbarrier
                | Fence
                | Griddepcontrol
                | Membar
                | Bra
                | Ret
                | Setmaxnreg
                | Trap
                | Call
                | Wgmma
        )
    }
}

impl Word {
    /// The bits of a type; none of a modifier, and of `pred`, which is no number.
    pub fn bits(self) -> Option<u32> {
        use Word::*;
        match self {
            B8 | U8 | S8 => Some(8),
            B16 | U16 | S16 | F16 | Bf16 => Some(16),
            B32 | U32 | S32 | F32 => Some(32),
            B64 | U64 | S64 | F64 => Some(64),
            _ => None,
        }
    }

    /// Whether it is a type of floats.
    pub fn is_float(self) -> bool {
        matches!(self, Word::F16 | Word::Bf16 | Word::F32 | Word::F64)
    }
}
