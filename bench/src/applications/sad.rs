//! H.264's motion estimation: 33 × 33 displacements of each macroblock, each the distances of 256 pixels and 41 minima; the frames and the keys in memory.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::{Task, on_all_cores};
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::sad::{self, BLOCKS, Input, Resident};
use warpwright_review::machine::Pipe;

/// The greatest displacement.
const RANGE: usize = 16;

pub(super) struct Sad {
    input: Input,
    macroblocks: usize,
    /// Macroblocks that one core does.
    part: usize,
}

pub(super) struct Theirs {
    current: Buffer<u8>,
    previous: Buffer<u8>,
    best: Buffer<u32>,
}

fn twin(p: &Sad, twins: &Twins, t: &Theirs, variant: u32) -> Outcome<f64> {
    let (width, height) = (p.input.current.width as u32, p.input.current.height as u32);
    twins.sad(variant, width, height, at(&t.current), at(&t.previous), at(&t.best))
}

impl Application for Sad {
    const NAME: &'static str = "sad";
    const DECLARED: Declaring<Self> = |_| sad::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Sad, Expected)> {
        // Rows are whole words, so that a frame lies in memory as it is.
        let (width, height) = size.pick((3_840, 2_160), (1_280, 720), (12, 14));
        let input = Input::new(5, width, height);
        let (columns, rows) = input.macroblocks();
        let macroblocks = columns * rows;
        let known = on_all_cores(0..macroblocks, |part| input.one_core(RANGE, part)).concat().into_iter().map(u64::from).collect();
        let expected = Expected::all(Known::Integers(known), "one core's program", Tolerance::Exact);
        Ok((Sad { input, macroblocks, part: size.pick(2_000, 1_000, 1) }, expected))
    }

    fn input(&self) -> String {
        format!("{} × {} pixels, ± {RANGE}", self.input.current.width, self.input.current.height)
    }

    fn variants() -> Vec<TimedVariant<Sad>> {
        vec![
            Self::variant("bytes in global memory", (), |_, r, go| r.run_global::<RANGE>(go), |p, w, t| twin(p, w, t, 0)),
            Self::variant("shared memory, 64 threads", (), |_, r, go| r.run_shared::<RANGE, 64>(go), |p, w, t| twin(p, w, t, 64)),
            Self::variant("shared memory, 160 threads", (), |_, r, go| r.run_shared::<RANGE, 160>(go), |p, w, t| twin(p, w, t, 160)),
            Self::variant("shared memory, 320 threads", (), |_, r, go| r.run_shared::<RANGE, 320>(go), |p, w, t| twin(p, w, t, 320)),
            Self::variant("textures, 64 threads", (), |_, r, go| r.run_texture::<RANGE, 64>(go), |p, w, t| twin(p, w, t, 1)),
            Self::variant("textures, 128 threads", (), |_, r, go| r.run_texture::<RANGE, 128>(go), |p, w, t| twin(p, w, t, 2)),
        ]
    }

    /// A displacement takes the distances of 64 words of four pixels, each added to a sum; 16 shifts; 25 sums that merge blocks; 41 sums and minima of keys.
    fn work(&self, (): ()) -> Work {
        let displacements = self.macroblocks as f64 * ((2 * RANGE + 1) * (2 * RANGE + 1)) as f64;
        let bytes = 2 * self.input.current.luma.len() + 4 * BLOCKS * self.macroblocks;
        Work::bytes(bytes as f64)
            .and(Pipe::Integer, (64 + 16 + 25 + 2 * 41) as f64 * displacements)
            .and(Pipe::Logic, (64 + 16 + 41) as f64 * displacements)
    }

    fn one_core(&self) -> Task<'_> {
        Task::new(self.part as f64 / self.macroblocks as f64, || self.input.one_core(RANGE, 0..self.part))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Integers(ours.result()?.into_iter().map(u64::from).collect()))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        Ok(Theirs {
            current: device.upload(&self.input.current.luma)?,
            previous: device.upload(&self.input.previous.luma)?,
            best: device.zeros(BLOCKS * self.macroblocks)?,
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Integers(theirs.best.download()?.into_iter().map(u64::from).collect()))
    }
}
