//! RPES: 81 terms an integral, each of 25 operations and two roots; 4 bytes an integral.

use super::application::{Application, Declaring, TimedVariant};
use super::check::{Expected, Known, Results, Tolerance, spread};
use super::one_core::Task;
use super::work::Work;
use crate::twins::{Twins, at};
use crate::{Outcome, Size};
use warpwright::{Buffer, Device};
use warpwright_kernels::apps::rpes::{self, CHUNK, Function, Input, PRODUCTS, Product, Resident, cells};
use warpwright_review::machine::Pipe;

/// Functions among which all integrals are known.
const SOME: usize = 12;

pub(super) struct Rpes {
    input: Input,
    pairs: usize,
    products: Vec<Product>,
    cells: Vec<[f32; 4]>,
    /// Kets that one core does.
    part: usize,
}

pub(super) struct Theirs {
    functions: Buffer<Function>,
    firsts: Buffer<u32>,
    seconds: Buffer<u32>,
    kets: Buffer<Product>,
    places: Buffer<[f32; 4]>,
    factors: Buffer<f32>,
    table: Buffer<[f32; 4]>,
    out: Buffer<f32>,
}

fn twin(p: &Rpes, twins: &Twins, t: &Theirs, variant: u32) -> Outcome<f64> {
    let (functions, firsts, seconds, kets) = (at(&t.functions), at(&t.firsts), at(&t.seconds), at(&t.kets));
    twins.rpes(variant, p.pairs as u32, functions, firsts, seconds, kets, at(&t.places), at(&t.factors), at(&t.table), at(&t.out))
}

impl Application for Rpes {
    const NAME: &'static str = "rpes";
    const DECLARED: Declaring<Self> = |_| rpes::declared();
    type Form = ();
    type Ours = Resident;
    type Theirs = Theirs;

    fn new(size: Size) -> Outcome<(Rpes, Expected)> {
        let input = Input::new(10, size.pick(128, 64, 4));
        let (pairs, products) = (input.pairs().len(), input.products());
        // Some functions are a molecule, too; in their order pairs are in order.
        let names = spread(input.functions.len(), size.pick(SOME, SOME, 3));
        let some = Input { functions: names.iter().map(|name| input.functions[*name]).collect() };
        let numbers: Vec<usize> = some.pairs().into_iter().map(|(i, j)| names[i] * (names[i] + 1) / 2 + names[j]).collect();
        let integrals = some.reference();
        let greatest = integrals.iter().fold(0.0f64, |most, value| most.max(*value));
        let places = numbers.iter().flat_map(|ket| numbers.iter().map(move |bra| ket * pairs + bra)).collect();
        let bound = Tolerance::Most(input.error_bound() * greatest);
        let expected = Expected { known: Known::Floats(integrals), places: Some(places), source: "the reference", bound };
        Ok((Rpes { cells: cells(), part: size.pick(96, 96, 2), input, pairs, products }, expected))
    }

    fn input(&self) -> String {
        format!("{} functions, {} pairs", self.input.functions.len(), self.pairs)
    }

    fn variants() -> Vec<TimedVariant<Rpes>> {
        vec![
            Self::variant("from functions", (), |_, r, go| r.run_direct::<128>(go), |p, w, t| twin(p, w, t, 0)),
            Self::variant("pairs in constant memory", (), |_, r, go| r.run::<128, 1, false>(go), |p, w, t| twin(p, w, t, 1)),
            Self::variant("a table", (), |_, r, go| r.run::<128, 1, true>(go), |p, w, t| twin(p, w, t, 101)),
            Self::variant("a table, 2 kets", (), |_, r, go| r.run::<128, 2, true>(go), |p, w, t| twin(p, w, t, 102)),
            Self::variant("a table, 4 kets", (), |_, r, go| r.run::<128, 4, true>(go), |p, w, t| twin(p, w, t, 104)),
        ]
    }

    fn work(&self, (): ()) -> Work {
        let integrals = (self.pairs * (self.pairs + 1) / 2) as f64;
        let terms = (PRODUCTS * PRODUCTS) as f64 * integrals;
        Work::bytes(4.0 * integrals).and(Pipe::Single, 25.0 * terms).and(Pipe::Special, 2.0 * terms)
    }

    /// Each ket with all bras from it on.
    fn one_core(&self) -> Task<'_> {
        let integrals = |kets: usize| (kets * self.pairs - kets * (kets - 1) / 2) as f64;
        let share = integrals(self.part) / integrals(self.pairs);
        Task::new(share, || self.input.one_core(&self.products, &self.cells, 0..self.part))
    }

    fn ours(&self, device: &Device, (): ()) -> Outcome<Resident> {
        Ok(Resident::new(device, &self.input)?)
    }

    fn results(&self, ours: &Resident) -> Outcome<Results> {
        Ok(Results::Floats(ours.result()?))
    }

    fn theirs(&self, device: &Device, (): ()) -> Outcome<Theirs> {
        let by_product = || (0..PRODUCTS).flat_map(|k| (0..self.pairs).map(move |pair| &self.products[pair * PRODUCTS + k]));
        let names = self.input.pairs();
        let mut kets = self.products.clone();
        kets.resize(self.pairs.next_multiple_of(CHUNK) * PRODUCTS, Product { place: [0.0, 0.0, 0.0, 1.0], factor: 0.0 });
        Ok(Theirs {
            functions: device.upload(&self.input.functions)?,
            firsts: device.upload(&names.iter().map(|(i, _)| *i as u32).collect::<Vec<_>>())?,
            seconds: device.upload(&names.iter().map(|(_, j)| *j as u32).collect::<Vec<_>>())?,
            kets: device.upload(&kets)?,
            places: device.upload(&by_product().map(|product| product.place).collect::<Vec<_>>())?,
            factors: device.upload(&by_product().map(|product| product.factor).collect::<Vec<_>>())?,
            table: device.upload(&self.cells)?,
            out: device.zeros(self.pairs * self.pairs)?,
        })
    }

    fn twin_results(&self, theirs: &Theirs) -> Outcome<Results> {
        Ok(Results::Floats(theirs.out.download()?))
    }
}
