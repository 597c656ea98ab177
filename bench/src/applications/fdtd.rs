//! FDTD: 13 operations a cell and step; bytes as the form has it: 40 in two launches, 28 in one, a `STEPS`-th of that in tiles.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::fdtd::{self, Fields, Form, Grid, Input, Resident};
use warpwright_review::machine::Pipe;

pub(super) struct Fdtd {
    input: Input,
    grid: Grid,
    steps: usize,
}

pub(super) struct Theirs {
    samples: Buffer<f32>,
    material: Buffer<f32>,
    now: [Buffer<f32>; 3],
    next: [Buffer<f32>; 3],
}

fn twin(p: &Fdtd, twins: &Twins, t: &Theirs, variant: u32) -> Outcome<f64> {
    let (width, height, pitch) = (p.grid.width as u32, p.grid.height as u32, p.grid.pitch as u32);
    let (x, y) = (p.input.source.0 as u32, p.input.source.1 as u32);
    let ([ez, hx, hy], [ez_next, hx_next, hy_next]) = (&t.now, &t.next);
    twins.fdtd(
        variant,
        width,
        height,
        pitch,
        p.input.rate,
        x,
        y,
        p.steps as u32,
        t.samples.len() as u32,
        at(&t.samples),
        at(&t.material),
        at(ez),
        at(hx),
        at(hy),
        at(ez_next),
        at(hx_next),
        at(hy_next),
    )
}

/// The three fields one after the other.
fn flat<T>(fields: Fields<T>) -> Vec<T> {
    fields.ez.into_iter().chain(fields.hx).chain(fields.hy).collect()
}

impl Application for Fdtd {
    const NAME: &'static str = "fdtd";
    const DECLARED: Declaring<Self> = |program| fdtd::declared(program.steps);
    type Form = Form;
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Fdtd, Expected)> {
        let (width, height, steps) = size.pick((4_096, 4_096, 16), (2_048, 2_048, 8), (66, 31, 4));
        let mut input = Input::new(6, width, height);
        // Waves all over the box from the start: most of it would be zeros for thousands of steps.
        let mut random = fastrand::Rng::with_seed(6);
        input.ez.fill_with(|| 2.0 * random.f32() - 1.0);
        let known = input.reference(2 * steps);
        let bound = Tolerance::Root(input.error_bound(2 * steps, &known));
        let expected = Expected::all(Known::Floats(flat(known)), "the reference", bound);
        Ok((Fdtd { grid: Grid::new(width, height), input, steps }, expected))
    }

    fn input(&self) -> String {
        format!("{} × {} cells, {} steps", self.grid.width, self.grid.height, self.steps)
    }

    fn variants() -> Vec<TimedVariant<Fdtd>> {
        vec![
            Self::variant("by columns", Form::Half, |p, r, go| r.run_by_columns(p.steps, go), |p, w, t| twin(p, w, t, 0)),
            Self::variant("by rows", Form::Half, |p, r, go| r.run::<1, false>(p.steps, go), |p, w, t| twin(p, w, t, 1)),
            Self::variant("4 cells a thread", Form::Half, |p, r, go| r.run::<4, true>(p.steps, go), |p, w, t| twin(p, w, t, 2)),
            Self::variant(
                "H and E in one launch",
                Form::Steps(1),
                |p, r, go| r.run_fused::<1, false>(p.steps, go),
                |p, w, t| twin(p, w, t, 3),
            ),
            Self::variant(
                "one launch, 2 cells",
                Form::Steps(1),
                |p, r, go| r.run_fused::<2, true>(p.steps, go),
                |p, w, t| twin(p, w, t, 3),
            ),
            Self::variant("tiles, 2 steps", Form::Steps(2), |p, r, go| r.run_tiled::<2>(p.steps, go), |p, w, t| twin(p, w, t, 5)),
            Self::variant("tiles, 4 steps", Form::Steps(4), |p, r, go| r.run_tiled::<4>(p.steps, go), |p, w, t| twin(p, w, t, 6)),
        ]
    }

    fn work(&self, form: Form) -> Work {
        // Of a cell and step.
        let bytes = match form {
            Form::Half => 40.0,
            Form::Steps(steps) => 28.0 / steps as f64,
        };
        let cells = (self.grid.width * self.grid.height * self.steps) as f64;
        Work::bytes(bytes * cells).and(Pipe::Single, 13.0 * cells)
    }

    fn one_core(&self) -> Task<'_> {
        let (material, mut fields) = (self.input.material(), self.input.start());
        let none = || Fields { ez: vec![], hx: vec![], hy: vec![] };
        // It goes on where it stopped.
        Task::new(1.0, move || fields = self.input.one_core_from(&material, std::mem::replace(&mut fields, none()), self.steps))
    }

    fn ours(&self, device: &Device, _: Form) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(flat(ours.result()?)))
    }

    fn theirs(&self, device: &Device, _: Form) -> Outcome<Theirs> {
        let zeros = || device.zeros::<f32>(self.grid.pitch * (self.grid.height + 2));
        Ok(Theirs {
            samples: device.upload(&self.input.samples)?,
            material: device.upload(&self.grid.spread(&self.input.material()))?,
            now: [device.upload(&self.grid.spread(&self.input.start().ez))?, zeros()?, zeros()?],
            next: [zeros()?, zeros()?, zeros()?],
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        let [ez, hx, hy] = &theirs.now;
        let gather = |buffer: &Buffer<f32>| -> Outcome<Vec<f32>> { Ok(self.grid.gather(&buffer.download()?)) };
        Ok(Results::Floats(flat(Fields { ez: gather(ez)?, hx: gather(hx)?, hy: gather(hy)? })))
    }
}
