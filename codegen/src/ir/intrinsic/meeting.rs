//! What threads that come to a row together give each other.

/// What is known of a row to which threads come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// What a thread stands for that takes no part.
    pub absent: Absent,
    /// Whose value each thread gets.
    pub gives: Gives,
    /// How OpenCL C makes it where the device has nothing for it: warps are no sub-groups, or threads are counted.
    pub exchange: Exchange,
}

/// What a thread stands for that takes no part, where all must come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// `false`: it votes for nothing.
    No,
    /// `true`: it objects to nothing.
    Yes,
    /// Anything: it is cut out of the resulting set of lanes.
    CutOut,
    /// Anything: nobody may ask for its value.
    Anything,
}

/// Whose value each thread gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// There is no result.
    Nothing,
    /// One of its own: another lane's, or made of all.
    Own,
    /// All get the same one.
    OneForAll,
    /// That of the lane which the second argument is.
    OfLane,
    /// That of the lane whose number differs in the bits of the second argument.
    OfLaneXor,
    /// That of a lane above, or its own where the warp ends.
    OfLaneAbove,
}

/// How OpenCL C makes it of an array in local memory, with an element for each thread of the block, and of barriers of the work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Not: what OpenCL C has for it is for every device.
    None,
    /// Not, and there is nothing that it could be made of.
    Impossible,
    /// As a barrier.
    Barrier,
    /// Each thread's 32-bit word is in the array between two barriers.
    Words {
        /// Statements between them, where `word` is the thread's own word, `second` the second argument, `thread`, `lane`, `first` (thread number of
        /// lane 0) and `threads` (of the block) describe the place.
        between: &'static str,
        /// The result, in the same terms.
        result: &'static str,
    },
    /// By the row `ballot`: whether the lanes for which the word is 1 are some, or those for which it is not are none.
    Vote {
        /// Whether every lane's vote is needed.
        of_all: bool,
    },
    /// By how many threads of the block pass `true`: the result, where `{count}` is that number and `{threads}` that of the block's threads.
    Count(&'static str),
}

impl Meeting {
    /// Threads wait.
    pub(crate) const fn wait(exchange: Exchange) -> Meeting {
        Meeting { absent: Absent::Anything, gives: Gives::Nothing, exchange }
    }

    /// Threads get each other's values.
    pub(crate) const fn shuffle(gives: Gives, between: &'static str, result: &'static str) -> Meeting {
        Meeting { absent: Absent::Anything, gives, exchange: Exchange::Words { between, result } }
    }

    /// Threads vote.
    pub(crate) const fn vote(absent: Absent, exchange: Exchange) -> Meeting {
        Meeting { absent, gives: Gives::OneForAll, exchange }
    }
}
