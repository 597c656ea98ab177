//! Modules and kernels, as a program uses them.

use crate::decode::{CONST_PLACE_BITS, Place, SHARED_BEGIN, Symbols, decode};
use crate::error::{Fault, FaultKind, ParseError};
use crate::machine::{Launch, Machine, Outcome};
use crate::memory::Memory;
use crate::parse::parse;
use crate::program::Program;
use crate::syntax::{EntryText, Space, Variable};

/// A parameter of a kernel: where it is among the bytes of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its first byte.
    pub offset: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// A variable of a module.
#[derive(Clone, Debug)]
struct ModuleVariable {
    name: String,
    is_const: bool,
    bytes: u64,
    initial: Vec<u8>,
}

/// A kernel, decoded.
#[derive(Debug)]
struct Kernel {
    name: String,
    parameters: Vec<Parameter>,
    program: Program,
    /// `.reqntid`, `.maxntid`, `.reqnctapercluster`.
    required_block: Option<[u32; 3]>,
    most_threads: Option<u32>,
    cluster: Option<[u32; 3]>,
}

/// A module that was read.
#[derive(Debug)]
pub struct Module {
    text: String,
    version: (u32, u32),
    target: String,
    variables: Vec<ModuleVariable>,
    kernels: Vec<Kernel>,
}

/// A module whose variables have memory.
#[derive(Debug)]
pub struct LoadedModule {
    module: Module,
    /// The address of each variable.
    addresses: Vec<u64>,
    /// Those of `.const` variables.
    constants: Vec<u64>,
    /// By kernel: its constants, with addresses.
    literals: Vec<Vec<u64>>,
}

/// A kernel of a module that is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'m> {
    loaded: &'m LoadedModule,
    index: usize,
}

impl Module {
    /// Reads and decodes a text.
    ///
    /// # Errors
    ///
    /// The first thing that is not PTX, or that is not executed here, with its line.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let found = parse(text)?;
        let mut symbols = Symbols::new();
        let mut variables = Vec::new();
        let mut constants = 0;
        for variable in found.variables.iter().filter(|variable| variable.space != Space::Shared) {
            let is_const = variable.space == Space::Const;
            if !is_const && variable.space != Space::Global {
                return Err(ParseError { line: variable.line, message: format!("`{}` stands outside of a kernel", variable.name) });
            }
            if is_const && variable.bytes > 1 << (CONST_PLACE_BITS - 1) {
                return Err(ParseError {
                    line: variable.line,
                    message: format!("`{}` takes {} bytes of 65536", variable.name, variable.bytes),
                });
            }
            constants += u64::from(is_const);
            let place = if is_const { Place::Const(constants << CONST_PLACE_BITS) } else { Place::Global(variables.len()) };
            symbols.insert(variable.name, place);
            let (name, initial) = (variable.name.to_owned(), variable.initial.clone());
            variables.push(ModuleVariable { name, is_const, bytes: variable.bytes, initial });
        }
        let kernels = found.entries.iter().map(|entry| kernel(entry, &found.variables, &symbols)).collect::<Result<_, _>>()?;
        let target = found.target.first().copied().unwrap_or_default().to_owned();
        let version = (found.version / 10, found.version % 10);
        Ok(Module { text: text.to_owned(), version, target, variables, kernels })
    }

    /// The version of PTX that it is written in, major and minor.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// What `.target` names first: `sm_80`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Gives the module's variables memory, with their first contents.
    ///
    /// # Errors
    ///
    /// If the host has no such memory.
    pub fn load(self, memory: &mut Memory) -> Result<LoadedModule, Fault> {
        let mut addresses = Vec::new();
        for variable in &self.variables {
            let address = memory.allocate(variable.bytes).ok_or_else(|| bad_launch(format!("no memory for `{}`", variable.name)))?;
            let mut content = variable.initial.clone();
            content.resize(variable.bytes as usize, 0);
            memory.write(address, &content).map_err(bad_launch)?;
            addresses.push(address);
        }
        let constants =
            self.variables.iter().zip(&addresses).filter(|(variable, _)| variable.is_const).map(|(_, address)| *address).collect();
        let with_addresses = |kernel: &Kernel| {
            let mut literals = kernel.program.constants.clone();
            for (number, variable, offset) in &kernel.program.addresses {
                literals[*number] = addresses[*variable].wrapping_add_signed(*offset);
            }
            literals
        };
        let literals = self.kernels.iter().map(with_addresses).collect();
        Ok(LoadedModule { module: self, addresses, constants, literals })
    }
}

impl LoadedModule {
    /// The kernel of a name.
    pub fn entry(&self, name: &str) -> Option<Entry<'_>> {
        let index = self.module.kernels.iter().position(|kernel| kernel.name == name)?;
        Some(Entry { loaded: self, index })
    }

    /// The names of its kernels.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.module.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// The address and the bytes of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let at = self.module.variables.iter().position(|variable| variable.name == name)?;
        Some((self.addresses[at], self.module.variables[at].bytes))
    }

    /// Frees the memory of its variables.
    pub fn unload(self, memory: &mut Memory) {
        self.addresses.iter().for_each(|address| {
            memory.free(*address);
        });
    }
}

impl Entry<'_> {
    fn kernel(&self) -> &Kernel {
        &self.loaded.module.kernels[self.index]
    }

    /// Its parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.kernel().parameters
    }

    /// Bytes of all parameters.
    pub fn parameter_bytes(&self) -> usize {
        self.parameters().last().map_or(0, |last| last.offset + last.bytes)
    }

    /// Bytes of shared memory beside the dynamic part.
    pub fn shared_bytes(&self) -> u32 {
        self.kernel().program.shared_bytes - SHARED_BEGIN
    }

    /// Most threads of a block, by its own directives.
    pub fn most_threads(&self) -> u32 {
        let kernel = self.kernel();
        kernel.required_block.map(|block| block.iter().product()).or(kernel.most_threads).unwrap_or(1024)
    }

    /// Blocks of a cluster, where it has a directive that says so.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.kernel().cluster
    }

    /// Runs the kernel. `params`: the bytes of all parameters, as [`Entry::parameters`] places them.
    ///
    /// # Errors
    ///
    /// What a launch may not be, and what a thread did that it may not do, with instruction, line, thread and block.
    pub fn launch(&self, launch: &Launch, memory: &mut Memory, params: &[u8]) -> Result<Outcome, Fault> {
        let kernel = self.kernel();
        let cluster = kernel.cluster.unwrap_or(launch.cluster);
        self.check(launch, params)?;
        let loaded = self.loaded;
        let program = (&kernel.program, &loaded.literals[self.index][..], &loaded.constants[..]);
        let mut machine = Machine::new(program, memory, params, (launch, cluster));
        let result = machine.run();
        let outcome = Outcome { instructions: machine.executed, printed: machine.printed };
        match result {
            Ok(()) => Ok(outcome),
            Err(fault) => Err(self.located(fault)),
        }
    }

    /// What a launch has to be, before anything runs.
    ///
    /// # Errors
    ///
    /// What it may not be.
    pub fn check(&self, launch: &Launch, params: &[u8]) -> Result<(), Fault> {
        let kernel = self.kernel();
        let cluster = kernel.cluster.unwrap_or(launch.cluster);
        let threads: u64 = launch.block.iter().map(|n| u64::from(*n).min(2048)).product();
        let most = u64::from(self.most_threads()).min(1024);
        let is_too_large = launch.grid[0] > i32::MAX as u32 || launch.grid[1..].iter().any(|n| *n > 65535);
        if threads == 0 || threads > most || launch.grid.contains(&0) || is_too_large {
            return Err(bad_launch(format!("blocks of {:?} threads, at most {most}, and a grid of {:?}", launch.block, launch.grid)));
        }
        if kernel.required_block.is_some_and(|block| block != launch.block) {
            return Err(bad_launch(format!("blocks of {:?} threads, and the kernel is for {:?}", launch.block, kernel.required_block)));
        }
        if cluster.contains(&0)
            || cluster.iter().product::<u32>() > 16
            || (0..3).any(|axis| !launch.grid[axis].is_multiple_of(cluster[axis]))
        {
            return Err(bad_launch(format!("clusters of {cluster:?} blocks in a grid of {:?}", launch.grid)));
        }
        if launch.dynamic_shared > 1 << 20 {
            return Err(bad_launch(format!("{} bytes of dynamic shared memory", launch.dynamic_shared)));
        }
        if params.len() != self.parameter_bytes() {
            return Err(bad_launch(format!("{} bytes of parameters, and the kernel has {}", params.len(), self.parameter_bytes())));
        }
        Ok(())
    }

    /// With the instruction that stands on the line.
    fn located(&self, fault: Fault) -> Fault {
        let line = fault.line.checked_sub(1).and_then(|line| self.loaded.module.text.lines().nth(line as usize));
        match line {
            Some(text) => {
                let message = format!("kernel `{}`, line {}, `{}`: {}", self.kernel().name, fault.line, text.trim(), fault.message);
                Fault { message, ..fault }
            }
            None => fault,
        }
    }
}

fn bad_launch(message: String) -> Fault {
    Fault { kind: FaultKind::BadLaunch, message, line: 0 }
}

fn kernel<'t>(entry: &EntryText<'t>, variables: &[Variable<'t>], symbols: &Symbols<'t>) -> Result<Kernel, ParseError> {
    let program = decode(entry, variables, symbols)?;
    let mut offset = 0u64;
    let mut parameters = Vec::new();
    for parameter in &entry.parameters {
        offset = offset.next_multiple_of(parameter.align);
        let place = Parameter { name: parameter.name.to_owned(), offset: offset as usize, bytes: parameter.bytes as usize };
        parameters.push(place);
        offset += parameter.bytes;
    }
    let extents = |name: &str| {
        let (_, figures) = entry.directives.iter().find(|(known, _)| *known == name)?;
        Some(std::array::from_fn(|axis| figures.get(axis).map_or(1, |figure| *figure as u32)))
    };
    let most_threads = extents(".maxntid").map(|block: [u32; 3]| block.iter().product());
    Ok(Kernel {
        name: entry.name.to_owned(),
        parameters,
        program,
        required_block: extents(".reqntid"),
        most_threads,
        cluster: extents(".reqnctapercluster"),
    })
}
