//! Graphs: their nodes run in an order in which each comes behind those that it waits for, and the last made first otherwise.

use crate::codes::{Code, INVALID_VALUE};
use crate::layouts::{Copy3d, EdgeData, KernelNode, MemsetNode};
use crate::memory::{copy, write};
use crate::modules::{Work, launch};
use crate::state::{Handle, State, any_state, known, state};
use std::ffi::c_uint;

/// The kind of memory that is the device's.
const DEVICE: c_uint = 2;

/// What a node does.
#[derive(Clone)]
enum Task {
    Nothing,
    Launch(Box<Work>),
    Copy(Box<Copy3d>),
    Set(MemsetNode),
}

/// A node, and those that it waits for.
#[derive(Clone)]
struct Node {
    handle: Handle,
    after: Vec<Handle>,
    task: Task,
}

/// A graph, or its form that runs.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// The numbers of its nodes in an order.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        let is_done = |order: &[usize], handle: &Handle| order.iter().any(|n| self.nodes[*n].handle == *handle);
        while order.len() < self.nodes.len() {
            let next = (0..self.nodes.len())
                .rev()
                .find(|n| !order.contains(n) && self.nodes[*n].after.iter().all(|handle| is_done(&order, handle)));
            match next {
                Some(next) => order.push(next),
                None => break,
            }
        }
        order
    }
}

fn add(graph: Handle, node: *mut Handle, after: *const Handle, count: usize, task: Task) -> Result<(), Code> {
    let mut state = state()?;
    let handle = state.new_handle();
    let after = if count == 0 {
        Vec::new()
    } else if after.is_null() {
        return Err(INVALID_VALUE);
    } else {
        // SAFETY: the caller gives so many handles.
        unsafe { std::slice::from_raw_parts(after, count) }.to_vec()
    };
    let nodes = &mut known(state.graphs.get_mut(&graph))?.nodes;
    if after.iter().any(|other| nodes.iter().all(|node| node.handle != *other)) {
        return Err(INVALID_VALUE);
    }
    nodes.push(Node { handle, after, task });
    put!(node, handle);
    Ok(())
}

/// An edge more: plain, or of a kernel that admits another, which waits by itself.
fn add_edge(graph: Handle, from: Handle, to: Handle, edge: EdgeData) -> Result<(), Code> {
    let mut state = state()?;
    let nodes = &mut known(state.graphs.get_mut(&graph))?.nodes;
    let is_launch = |handle: Handle| nodes.iter().any(|node| node.handle == handle && matches!(node.task, Task::Launch(_)));
    let is_right = match (edge.from_port, edge.ty) {
        (0, 0) => true,
        // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC.
        (1, 1) => is_launch(from) && is_launch(to),
        _ => false,
    };
    if !is_right || edge.to_port != 0 || edge.reserved != [0; 5] || nodes.iter().all(|node| node.handle != from) {
        return Err(INVALID_VALUE);
    }
    let after = &mut known(nodes.iter_mut().find(|node| node.handle == to))?.after;
    if after.contains(&from) {
        return Err(INVALID_VALUE);
    }
    after.push(from);
    Ok(())
}

fn set(exec: Handle, node: Handle, task: Task) -> Result<(), Code> {
    let mut state = state()?;
    let nodes = &mut known(state.execs.get_mut(&exec))?.nodes;
    known(nodes.iter_mut().find(|known| known.handle == node))?.task = task;
    Ok(())
}

fn kernel(node: &KernelNode) -> Result<Task, Code> {
    let params = state()?.parameters(node.function, node.parameters)?;
    Ok(Task::Launch(Box::new(Work { function: node.function, launch: launch(node.grid, node.block, node.shared), params })))
}

fn copy_task(of: &Copy3d) -> Result<Task, Code> {
    let is_plain = [&of.from, &of.to].iter().all(|place| place.kind == DEVICE && place.offsets == [0; 4]);
    if is_plain && of.height == 1 && of.depth == 1 { Ok(Task::Copy(Box::new(*of))) } else { Err(INVALID_VALUE) }
}

fn set_task(of: &MemsetNode) -> Result<Task, Code> {
    if of.height == 1 && matches!(of.element, 1 | 2 | 4) { Ok(Task::Set(*of)) } else { Err(INVALID_VALUE) }
}

impl State {
    fn do_task(&mut self, task: &Task) -> Result<(), Code> {
        match task {
            Task::Nothing => Ok(()),
            Task::Launch(work) => self.run(work),
            Task::Copy(of) => copy(self, of.to.device, of.from.device, of.width_bytes),
            Task::Set(of) => {
                let element = &of.value.to_le_bytes()[..of.element as usize];
                write(self, of.to, &element.repeat(of.width))
            }
        }
    }
}

exported! {
    /// A graph without nodes.
    fn cuGraphCreate(graph: *mut Handle, _flags: c_uint) {
        let mut state = state()?;
        let new = state.new_handle();
        state.graphs.insert(new, Graph::default());
        put!(graph, new);
        Ok(())
    }

    /// Its end.
    fn cuGraphDestroy(graph: Handle) {
        known(any_state().graphs.remove(&graph)).map(|_| ())
    }

    /// A launch.
    fn cuGraphAddKernelNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, of: *const KernelNode) {
        let task = kernel(take!(of))?;
        add(graph, node, after, count, task)
    }

    /// A copy.
    fn cuGraphAddMemcpyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, of: *const Copy3d, _context: Handle) {
        add(graph, node, after, count, copy_task(take!(of))?)
    }

    /// Bytes that are set.
    fn cuGraphAddMemsetNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, of: *const MemsetNode, _context: Handle) {
        add(graph, node, after, count, set_task(take!(of))?)
    }

    /// Nothing.
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        add(graph, node, after, count, Task::Nothing)
    }

    /// What nodes wait for.
    fn cuGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, edges: *const EdgeData, count: usize) {
        if count > 0 && (from.is_null() || to.is_null()) {
            return Err(INVALID_VALUE);
        }
        let plain = EdgeData { from_port: 0, to_port: 0, ty: 0, reserved: [0; 5] };
        (0..count).try_for_each(|n| {
            // SAFETY: the caller gives so many nodes, and as many edges if any.
            let (from, to, edge) = unsafe { (*from.add(n), *to.add(n), if edges.is_null() { plain } else { *edges.add(n) }) };
            add_edge(graph, from, to, edge)
        })
    }

    /// Another launch in the place of one.
    fn cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, of: *const KernelNode) {
        let task = kernel(take!(of))?;
        set(exec, node, task)
    }

    /// Another copy.
    fn cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, of: *const Copy3d, _context: Handle) {
        set(exec, node, copy_task(take!(of))?)
    }

    /// Other bytes.
    fn cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, of: *const MemsetNode, _context: Handle) {
        set(exec, node, set_task(take!(of))?)
    }

    /// A form that runs.
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, _flags: u64) {
        let mut state = state()?;
        let copied = known(state.graphs.get(&graph))?.clone();
        let new = state.new_handle();
        state.execs.insert(new, copied);
        put!(exec, new);
        Ok(())
    }

    /// Its end.
    fn cuGraphExecDestroy(exec: Handle) {
        known(any_state().execs.remove(&exec)).map(|_| ())
    }

    /// Runs it.
    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        let mut state = state()?;
        let context = state.context_of(stream)?;
        let graph = known(state.execs.get(&exec))?.clone();
        state.in_stream(stream, move |state| {
            for n in graph.order() {
                state.do_task(&graph.nodes[n].task)?;
                // What happened is told by the next call.
                if state.gpu_of(context)?.lost.is_some() {
                    break;
                }
            }
            Ok(())
        })
    }
}
