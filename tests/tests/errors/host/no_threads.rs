//! What is said where the system starts no more threads: each example has a child of its own, whose threads would need more memory than there is.

use warpwright::ptxas::{Ptxas, PtxasError};

super::examples! {
    PtxasError, "PtxasError::";

    /// No room for a thread
    fn no_thread(_device) {
        // where RUST_MIN_STACK=1152921504606846976, RUST_TEST_THREADS=1
        let assembler = Ptxas { release: "12.9".to_owned(), targets: vec![80, 90], path: "/bin/cat".into() };
        assembler.measure(".version 8.6\n.target sm_90\n.address_size 64\n", 90).map(drop)
    }
}
