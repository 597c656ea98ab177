//! Graphs of the driver's, made node by node: who waits for whom is known, so nothing is captured.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::{Code, DriverApi};
use super::constants::{Constants, Fill};
use super::module::CudaKernel;
use super::{Context, sys};
use crate::definition::KernelDefinition;
use crate::driver::{GraphDriver, GraphWork, LaunchPlan};
use crate::error::{Error, Result};
use crate::stream::StreamCore;
use std::any::Any;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

type AddNode<P> = unsafe extern "C" fn(*mut sys::CUgraphNode, sys::CUgraph, *const sys::CUgraphNode, usize, *const P) -> Code;
type AddMemoryNode<P> =
    unsafe extern "C" fn(*mut sys::CUgraphNode, sys::CUgraph, *const sys::CUgraphNode, usize, *const P, sys::CUcontext) -> Code;
type SetMemoryNode<P> = unsafe extern "C" fn(sys::CUgraphExec, sys::CUgraphNode, *const P, sys::CUcontext) -> Code;

type AddEdges =
    unsafe extern "C" fn(sys::CUgraph, *const sys::CUgraphNode, *const sys::CUgraphNode, *const sys::CUgraphEdgeData, usize) -> Code;

/// The functions of drivers that have graphs which can be changed (CUDA 11.4 and later).
struct Functions {
    add_kernel: AddNode<sys::CUDA_KERNEL_NODE_PARAMS>,
    add_copy: AddMemoryNode<sys::CUDA_MEMCPY3D>,
    add_zero: AddMemoryNode<sys::CUDA_MEMSET_NODE_PARAMS>,
    add_empty: unsafe extern "C" fn(*mut sys::CUgraphNode, sys::CUgraph, *const sys::CUgraphNode, usize) -> Code,
    set_kernel: unsafe extern "C" fn(sys::CUgraphExec, sys::CUgraphNode, *const sys::CUDA_KERNEL_NODE_PARAMS) -> Code,
    set_copy: SetMemoryNode<sys::CUDA_MEMCPY3D>,
    set_zero: SetMemoryNode<sys::CUDA_MEMSET_NODE_PARAMS>,
    /// CUDA 12.3 and later.
    add_edges: Option<AddEdges>,
    create: unsafe extern "C" fn(*mut sys::CUgraph, u32) -> Code,
    destroy: unsafe extern "C" fn(sys::CUgraph) -> Code,
    instantiate: unsafe extern "C" fn(*mut sys::CUgraphExec, sys::CUgraph, u64) -> Code,
    destroy_exec: unsafe extern "C" fn(sys::CUgraphExec) -> Code,
    launch: unsafe extern "C" fn(sys::CUgraphExec, sys::CUstream) -> Code,
}

impl Functions {
    fn of(driver: &DriverApi) -> Option<Functions> {
        Some(Functions {
            add_kernel: driver.cuGraphAddKernelNode?,
            add_copy: driver.cuGraphAddMemcpyNode?,
            add_zero: driver.cuGraphAddMemsetNode?,
            add_empty: driver.cuGraphAddEmptyNode?,
            set_kernel: driver.cuGraphExecKernelNodeSetParams?,
            set_copy: driver.cuGraphExecMemcpyNodeSetParams?,
            set_zero: driver.cuGraphExecMemsetNodeSetParams?,
            add_edges: driver.cuGraphAddDependencies,
            create: driver.cuGraphCreate?,
            destroy: driver.cuGraphDestroy?,
            instantiate: driver.cuGraphInstantiateWithFlags?,
            destroy_exec: driver.cuGraphExecDestroy?,
            launch: driver.cuGraphLaunch?,
        })
    }
}

/// A step in the graph.
struct Placed {
    /// Copies that fill its kernel's `.const` variables.
    fills: Vec<sys::CUgraphNode>,
    node: sys::CUgraphNode,
    is_launch: bool,
    constants: Option<Arc<Constants>>,
    /// Whether the driver knows it as it is now.
    is_current: bool,
}

/// What a node does, as the driver is told.
enum Node {
    Copy(sys::CUDA_MEMCPY3D),
    Zero(sys::CUDA_MEMSET_NODE_PARAMS),
    /// Nothing.
    Empty,
}

impl Node {
    fn copy(to: u64, from: u64, bytes: usize) -> Node {
        if bytes == 0 { Node::Empty } else { Node::Copy(sys::CUDA_MEMCPY3D::of_bytes(to, from, bytes)) }
    }

    fn zero(to: u64, bytes: usize) -> Node {
        if bytes == 0 {
            return Node::Empty;
        }
        // Four bytes at once where that is all.
        let size = if bytes.is_multiple_of(4) { 4 } else { 1 };
        Node::Zero(sys::CUDA_MEMSET_NODE_PARAMS { dst: to, pitch: 0, value: 0, elementSize: size as u32, width: bytes / size, height: 1 })
    }
}

/// A graph, and its form that runs once there is one.
pub(super) struct CudaGraph {
    context: Arc<Context>,
    functions: Functions,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
    placed: Vec<Placed>,
    /// The `.const` variables of all kernels, each once: filled when there is a form that runs.
    constants: Vec<Arc<Constants>>,
    last: Option<&'static KernelDefinition>,
    /// Whether the driver knows a step as it was.
    is_stale: bool,
}

impl CudaGraph {
    pub(super) fn new(context: Arc<Context>) -> Result<CudaGraph> {
        let functions = Functions::of(context.driver)
            .ok_or_else(|| Error::DriverTooOld { what: "graphs, which need CUDA 11.4".to_owned(), driver: context.driver.version() })?;
        let (graph, exec) = (sys::Handle::NULL, sys::Handle::NULL);
        Ok(CudaGraph { context, functions, graph, exec, placed: Vec::new(), constants: Vec::new(), last: None, is_stale: false })
    }

    fn is_made(&self) -> bool {
        self.exec != sys::Handle::NULL
    }

    /// An empty graph in place of what was begun.
    fn begin(&mut self) -> Result<()> {
        self.placed.clear();
        self.destroy();
        // SAFETY: writes one handle.
        let code = unsafe { (self.functions.create)(&mut self.graph, 0) };
        self.context.check(code, "cuGraphCreate")
    }

    fn destroy(&mut self) {
        for (handle, destroy) in [(&mut self.exec, self.functions.destroy_exec), (&mut self.graph, self.functions.destroy)] {
            let handle = std::mem::replace(handle, sys::Handle::NULL);
            if handle != sys::Handle::NULL {
                // SAFETY: made by this object; what still runs is kept by the driver until it has. A failure means that the context is lost.
                let _ = unsafe { destroy(handle) };
            }
        }
    }

    /// The nodes of steps.
    fn nodes(&self, steps: &[usize]) -> Vec<sys::CUgraphNode> {
        steps.iter().filter_map(|step| self.placed.get(*step)).map(|placed| placed.node).collect()
    }

    fn add(&self, node: &Node, after: &[sys::CUgraphNode]) -> Result<sys::CUgraphNode> {
        let (context, functions) = (&self.context, &self.functions);
        let mut made = sys::Handle::NULL;
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: writes one handle; reads so many nodes of this graph, and what describes the new one.
        let (code, call) = unsafe {
            match node {
                Node::Copy(copy) => {
                    ((functions.add_copy)(&mut made, self.graph, first, count, copy, context.context), "cuGraphAddMemcpyNode")
                }
                Node::Zero(zero) => {
                    ((functions.add_zero)(&mut made, self.graph, first, count, zero, context.context), "cuGraphAddMemsetNode")
                }
                Node::Empty => ((functions.add_empty)(&mut made, self.graph, first, count), "cuGraphAddEmptyNode"),
            }
        };
        context.check(code, call).map(|()| made)
    }

    fn set(&self, placed: sys::CUgraphNode, node: &Node) -> Result<()> {
        let (context, functions) = (&self.context, &self.functions);
        // SAFETY: a node of this graph, of this kind.
        let (code, call) = unsafe {
            match node {
                Node::Copy(copy) => ((functions.set_copy)(self.exec, placed, copy, context.context), "cuGraphExecMemcpyNodeSetParams"),
                Node::Zero(zero) => ((functions.set_zero)(self.exec, placed, zero, context.context), "cuGraphExecMemsetNodeSetParams"),
                Node::Empty => return Ok(()),
            }
        };
        context.check(code, call)
    }

    fn put_memory(&mut self, step: usize, node: &Node, after: &[usize]) -> Result<()> {
        if self.is_made() {
            return self.set(self.placed[step].node, node);
        }
        let node = self.add(node, &self.nodes(after))?;
        self.placed.push(Placed { fills: Vec::new(), node, is_launch: false, constants: None, is_current: true });
        Ok(())
    }

    /// The kernel that a launch may begin before the end of, and what says so: the only step that it waits for, if it waits within its kernel. What fills constants is waited for outside.
    fn overlapped(&self, kernel: &CudaKernel, after: &[usize]) -> Option<(sys::CUgraphNode, AddEdges)> {
        let add_edges = self.functions.add_edges?;
        let [only] = after else { return None };
        let earlier = self.placed.get(*only).filter(|earlier| earlier.is_launch)?;
        (kernel.overlaps() && kernel.constants().is_empty()).then_some((earlier.node, add_edges))
    }

    fn put_launch(&mut self, step: usize, kernel: &CudaKernel, plan: &LaunchPlan<'_>, after: &[usize]) -> Result<()> {
        let constants = kernel.constants();
        let fills: Vec<_> = constants.fills(plan)?.iter().map(|Fill { to, from, bytes }| Node::copy(*to, *from, *bytes)).collect();
        let extents = kernel.prepare(plan)?;
        let describe = |parameters: *mut *mut c_void| sys::CUDA_KERNEL_NODE_PARAMS {
            func: kernel.function(),
            gridDim: extents.grid,
            blockDim: extents.block,
            sharedMemBytes: extents.shared_bytes,
            kernelParams: parameters,
            extra: null_mut(),
        };
        let context = Arc::clone(&self.context);
        if self.is_made() {
            for (placed, fill) in self.placed[step].fills.iter().zip(&fills) {
                self.set(*placed, fill)?;
            }
            return kernel.with_parameters(plan, |parameters| {
                let node = describe(parameters);
                // SAFETY: a node of this graph, a kernel's; parameters are copied before the call returns.
                context.check(
                    unsafe { (self.functions.set_kernel)(self.exec, self.placed[step].node, &node) },
                    "cuGraphExecKernelNodeSetParams",
                )
            });
        }
        let earlier = self.overlapped(kernel, after);
        let mut after = if earlier.is_some() { Vec::new() } else { self.nodes(after) };
        if !constants.is_empty() {
            // The variables are filled when the launch before that reads them has run.
            let same = self.placed.iter().rev().find(|placed| placed.constants.as_ref().is_some_and(|other| Arc::ptr_eq(other, constants)));
            after.extend(same.map(|placed| placed.node).filter(|node| !after.contains(node)));
        }
        let fills = fills.iter().map(|fill| self.add(fill, &after)).collect::<Result<Vec<_>>>()?;
        after.extend(&fills);
        let mut made = sys::Handle::NULL;
        kernel.with_parameters(plan, |parameters| {
            let node = describe(parameters);
            let first = if after.is_empty() { null() } else { after.as_ptr() };
            // SAFETY: writes one handle; reads so many nodes of this graph; parameters are copied before the call returns.
            context.check(unsafe { (self.functions.add_kernel)(&mut made, self.graph, first, after.len(), &node) }, "cuGraphAddKernelNode")
        })?;
        if let Some((earlier, add_edges)) = earlier {
            // SAFETY: reads two nodes of this graph, and one description.
            let code = unsafe { add_edges(self.graph, &raw const earlier, &raw const made, &sys::CUgraphEdgeData::PROGRAMMATIC, 1) };
            context.check(code, "cuGraphAddDependencies")?;
        }
        let constants = (!constants.is_empty()).then(|| Arc::clone(constants));
        self.placed.push(Placed { fills, node: made, is_launch: true, constants, is_current: true });
        self.last = Some(plan.definition);
        Ok(())
    }
}

impl GraphDriver for CudaGraph {
    fn needs(&self, step: usize) -> bool {
        !self.is_made() || !self.placed[step].is_current
    }

    fn is_stale(&self) -> bool {
        !self.is_made() || self.is_stale
    }

    fn forget(&mut self, step: usize) {
        if let Some(placed) = self.placed.get_mut(step) {
            placed.is_current = false;
            self.is_stale = true;
        }
    }

    fn put(&mut self, step: usize, work: &GraphWork<'_>, after: &[usize]) -> Result<()> {
        self.context.bind()?;
        // Until there is a form that runs, all steps are put in turn.
        if step == 0 && !self.is_made() {
            self.begin()?;
        }
        match *work {
            GraphWork::Zero { to, bytes } => self.put_memory(step, &Node::zero(to.handle(), bytes), after)?,
            GraphWork::Copy { to, from, bytes } => self.put_memory(step, &Node::copy(to.handle(), from.handle(), bytes), after)?,
            GraphWork::Launch { executable, plan } => {
                let executable: &dyn Any = executable;
                let Some(kernel) = executable.downcast_ref::<CudaKernel>() else {
                    return Err(Error::internal(plan.definition.name));
                };
                self.put_launch(step, kernel, plan, after)?;
            }
        }
        self.placed[step].is_current = true;
        Ok(())
    }

    fn replay(&mut self, stream: &Arc<StreamCore>) -> Result<()> {
        self.is_stale = false;
        if self.placed.is_empty() {
            return Ok(());
        }
        // Constants are filled by work in the stream.
        let is_bound = !self.is_made() || !self.constants.is_empty() || Context::is_needed_for(stream);
        if is_bound {
            self.context.bind()?;
        }
        if !self.is_made() {
            // SAFETY: writes one handle; the graph is this object's.
            let code = unsafe { (self.functions.instantiate)(&mut self.exec, self.graph, 0) };
            self.context.check(code, "cuGraphInstantiate")?;
            // Locked in one order, so that graphs that are replayed at the same time do not wait for each other in a circle.
            self.constants = self.placed.iter().filter_map(|placed| placed.constants.clone()).collect();
            self.constants.sort_unstable_by_key(Arc::as_ptr);
            self.constants.dedup_by(|a, b| Arc::ptr_eq(a, b));
        }
        let _claimed = self.constants.iter().map(|constants| constants.claim(stream)).collect::<Result<Vec<_>>>()?;
        if let Some(definition) = self.last {
            stream.note_launch(definition);
        }
        // SAFETY: the form that runs is this object's, the stream its context's; what it works with is kept by its uses until the stream is done with it.
        let launch = || unsafe { (self.functions.launch)(self.exec, sys::Handle::of(stream.handle())) };
        let mut code = launch();
        if !is_bound && Context::is_asked_for(code) {
            self.context.bind()?;
            code = launch();
        }
        self.context.check(code, "cuGraphLaunch")
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            self.destroy();
        }
    }
}
