use super::*;

/// How a run is made.
type Form = fn(&mut Resident, &mut Go<'_>) -> warpwright::Result<()>;

const FORMS: [(&str, Form); 7] = [
    ("thread", Resident::run_by_thread::<128>),
    ("4 lanes", Resident::run_by_lanes::<4, 128>),
    ("8 lanes", Resident::run_by_lanes::<8, 256>),
    ("warp", Resident::run_by_lanes::<32, 128>),
    ("sliced", Resident::run_sliced::<128, 1>),
    ("sliced, 4 ahead", Resident::run_sliced::<256, 4>),
    ("sliced, 8 ahead", Resident::run_sliced::<128, 8>),
];

fn run_on(device: &Device, input: &Input, form: Form) -> Result<Vec<f32>> {
    let mut resident = Resident::new(device, input)?;
    form(&mut resident, &mut |launch| launch.launch(device))?;
    resident.result()
}

fn run(input: &Input, form: Form) -> Vec<f32> {
    run_on(&Device::simulator(), input, form).unwrap_or_else(|error| panic!("{error}"))
}

/// That each row is within its bound of the reference.
fn is_right(name: &str, input: &Input, found: &[f32]) {
    let (expected, bound) = (input.reference(), input.error_bound());
    assert_eq!(found.len(), expected.len(), "{name}");
    for (row, found) in found.iter().enumerate() {
        let off = (expected[row] - f64::from(*found)).abs();
        assert!(off <= bound[row], "{name}, row {row}: {found} for {}, off by {off:e} of {:e}", expected[row], bound[row]);
    }
}

/// Every form, on the simulator and the host twin, is within the bound of the reference.
fn all_are_right(input: &Input) {
    for device in [Device::simulator(), Device::host()] {
        for (name, form) in FORMS {
            is_right(name, input, &run_on(&device, input, form).unwrap_or_else(|error| panic!("{name}: {error}")));
        }
    }
}

/// A right-angled triangle with legs of 1.
fn triangle() -> Mesh {
    Mesh { nodes: vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], triangles: vec![[0, 1, 2]] }
}

fn of_mesh(mesh: &Mesh) -> Input {
    let (matrix, b) = mesh.assemble(1.0, 1.0, |[x, y]| x - y).expect("a mesh");
    let x = (0..b.len()).map(|i| i as f32).collect();
    Input { matrix, b, x, omega: 0.5, steps: 2 }
}

fn dense(matrix: &Matrix) -> Vec<Vec<f32>> {
    let line = |row| {
        let mut line = vec![0.0; matrix.rows()];
        matrix.row(row).for_each(|(column, value)| line[column] += value);
        line
    };
    (0..matrix.rows()).map(line).collect()
}

#[test]
fn every_form_is_right_on_meshes_that_fit_no_block() {
    for (width, height) in [(2, 2), (7, 5), (13, 17)] {
        all_are_right(&Input::new(3, width, height, 2));
    }
}

#[test]
fn every_declared_variant_is_right() {
    let input = Input::new(31, 15, 9, 2);
    for device in crate::apps::devices() {
        for declared in declared() {
            let mut resident = Resident::new(&device, &input).expect("it is right");
            let run = declared.run(&mut resident, &mut |launch| launch.launch(&device));
            run.unwrap_or_else(|error| panic!("{declared} on {device}: {error}"));
            is_right(&format!("{declared} on {device}"), &input, &resident.result().expect("it is read"));
        }
    }
}

#[test]
fn one_core_is_right_on_a_part_of_the_rows() {
    let mut input = Input::new(5, 9, 11, 1);
    input.steps = 1;
    let mut next = vec![0.0; 40];
    input.one_core(&input.inverse_diagonal(), &input.x, 20..60, &mut next);
    let (expected, bound) = (input.reference(), input.error_bound());
    assert!((20..60).all(|row| (f64::from(next[row - 20]) - expected[row]).abs() <= bound[row]));
}

#[test]
fn a_single_triangle_has_the_matrix_of_every_textbook() {
    let (k, right) = triangle().assemble(1.0, 0.0, |_| 1.0).expect("a triangle");
    assert_eq!(dense(&k), [[1.0, -0.5, -0.5], [-0.5, 0.5, 0.0], [-0.5, 0.0, 0.5]]);
    let sixth = 1.0 / 6.0;
    assert_eq!(right, [sixth; 3]);
    let (m, _) = triangle().assemble(0.0, 24.0, |_| 1.0).expect("a triangle");
    assert_eq!(dense(&m), [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]);
    all_are_right(&of_mesh(&triangle()));
    let round = Mesh { triangles: vec![[2, 1, 0]], ..triangle() };
    assert_eq!(of_mesh(&round), of_mesh(&triangle()), "either way round");
}

#[test]
fn what_is_constant_has_no_slope() {
    let mesh = Mesh::new(11, 12, 9);
    let (matrix, _) = mesh.assemble(1.0, 0.0, |_| 0.0).expect("a mesh");
    for row in 0..matrix.rows() {
        let (sum, size) = matrix.row(row).fold((0.0, 0.0), |(sum, size), (_, v)| (sum + f64::from(v), size + f64::from(v).abs()));
        assert!(sum.abs() <= size * f64::from(f32::EPSILON), "row {row}: {sum}");
    }
    let n = matrix.rows();
    let input = Input { matrix, b: vec![0.0; n], x: vec![3.0; n], omega: 0.7, steps: 3 };
    for (name, form) in FORMS {
        assert!(run(&input, form).iter().all(|x| (x - 3.0).abs() < 1e-5), "{name}");
    }
}

#[test]
fn the_matrix_is_symmetric_and_the_mass_is_the_area() {
    let mesh = Mesh::new(13, 10, 10);
    let (matrix, _) = mesh.assemble(1.0, 0.5, |_| 0.0).expect("a mesh");
    let all = dense(&matrix);
    assert!((0..matrix.rows()).all(|i| (0..matrix.rows()).all(|j| all[i][j] == all[j][i])));
    let (mass, right) = mesh.assemble(0.0, 1.0, |_| 1.0).expect("a mesh");
    let area = |[a, b, c]: [u32; 3]| {
        let [a, b, c] = [a, b, c].map(|node| mesh.nodes[node as usize]);
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0
    };
    let expected: f64 = mesh.triangles.iter().map(|t| area(*t)).sum();
    assert!(mesh.triangles.iter().all(|t| area(*t) > 0.0), "no triangle is turned over");
    assert!((mass.values.iter().map(|v| f64::from(*v)).sum::<f64>() - expected).abs() < 1e-5);
    assert!((right.iter().map(|v| f64::from(*v)).sum::<f64>() - expected).abs() < 1e-5);
    assert!((0.5..1.0).contains(&expected), "the square without its hole: {expected}");
}

#[test]
fn steps_lead_to_the_solution() {
    let (matrix, _) = Mesh::new(17, 5, 4).assemble(1.0, 20.0, |_| 0.0).expect("a mesh");
    let solution: Vec<f32> = (0..20).map(|i| (i as f32).sin()).collect();
    let b = (0..20).map(|row| matrix.row(row).map(|(column, value)| value * solution[column]).sum()).collect();
    let input = Input { matrix, b, x: vec![0.0; 20], omega: 0.66, steps: 200 };
    let off = |x: &[f32]| x.iter().zip(&solution).map(|(x, s)| (x - s).abs()).fold(0.0f32, f32::max);
    let found = run(&input, Resident::run_sliced::<128, 4>);
    assert!(off(&input.x) > 0.5 && off(&found) < 1e-5, "{} after {}", off(&found), off(&input.x));
}

#[test]
fn a_second_run_goes_on() {
    let twice = Input::new(19, 6, 6, 4);
    let once = Input { steps: 2, ..twice.clone() };
    let device = Device::simulator();
    let mut resident = Resident::new(&device, &once).expect("it is right");
    for _ in 0..2 {
        resident.run_by_thread::<128>(&mut |launch| launch.launch(&device)).expect("it runs");
    }
    assert_eq!(resident.result().expect("it is read"), run(&twice, Resident::run_by_thread::<128>));
}

#[test]
fn nodes_of_no_triangle_keep_their_values() {
    let mut mesh = Mesh::new(23, 11, 11);
    mesh.nodes.extend([[0.5, 0.5]; 40]);
    let mut input = of_mesh(&mesh);
    let alone: Vec<usize> = (0..mesh.nodes.len()).filter(|row| input.matrix.range(*row).is_empty()).collect();
    assert!(alone.len() > 40, "the hole has nodes, too");
    all_are_right(&input);
    // Whatever they are.
    let special = [f32::INFINITY, f32::NAN, -0.0];
    for (node, value) in alone.iter().zip(special) {
        input.x[*node] = value;
    }
    for (name, form) in FORMS {
        let found = run(&input, form);
        assert!(alone.iter().all(|node| found[*node].to_bits() == input.x[*node].to_bits()), "{name}");
        assert!(found.iter().filter(|x| !x.is_finite()).count() == 2, "{name}: nobody else has heard of them");
    }
}

#[test]
fn what_is_no_number_spreads_by_one_triangle_a_step() {
    let mut input = Input::new(29, 9, 8, 1);
    let node = (0..72).find(|row| input.matrix.range(*row).len() > 4).expect("one in the middle");
    let near: Vec<usize> = input.matrix.row(node).map(|(column, _)| column).collect();
    for value in [f32::NAN, f32::INFINITY] {
        input.x[node] = value;
        for (name, form) in FORMS {
            let found = run(&input, form);
            assert!((0..72).all(|row| found[row].is_finite() != near.contains(&row)), "{name}, {value}");
        }
    }
}

#[test]
fn nothing_gives_nothing() {
    let nothing = of_mesh(&Mesh { nodes: vec![], triangles: vec![] });
    let one = of_mesh(&Mesh { nodes: vec![[0.0; 2]], triangles: vec![] });
    for (name, form) in FORMS {
        assert_eq!(run(&nothing, form), [0.0f32; 0], "{name}");
        assert_eq!(run(&one, form), [0.0], "{name}: one node, no triangle");
    }
    assert_eq!(Mesh::new(1, 0, 5).nodes.len() + Mesh::new(1, 1, 5).triangles.len(), 0);
}

#[test]
fn what_is_no_mesh_is_refused() {
    let why = |triangles, nodes| Mesh { nodes, triangles }.assemble(1.0, 1.0, |_| 1.0).map(|_| ());
    let says = |text: &str| Err(Error::Input(text.into()));
    assert_eq!(why(vec![[0, 1, 3]], triangle().nodes), says("triangle 0 has node 3: there are 3 nodes"));
    assert_eq!(why(vec![[0, 1, 2], [0, 1, 1]], triangle().nodes), says("triangle 1 has the area 0: it must be a number above 0"));
    assert_eq!(why(vec![[0, 1, 2]], vec![[0.0, f64::NAN]; 3]), says("triangle 0 has the area NaN: it must be a number above 0"));
}

/// Why a triangle's equations, so changed, are refused.
fn refusal(change: impl Fn(&mut Input)) -> String {
    let mut input = of_mesh(&triangle());
    change(&mut input);
    match Resident::new(&Device::simulator(), &input) {
        Err(Error::Input(why)) => why,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("taken"),
    }
}

#[test]
fn what_is_no_matrix_is_refused() {
    assert_eq!(refusal(|i| i.matrix.starts[1] = 8), "row 1 begins at 8 and ends at 6: `starts` must not fall");
    assert_eq!(refusal(|i| i.matrix.starts[0] = 1), "`starts` begins with 1: it must begin with 0");
    assert_eq!(refusal(|i| i.matrix.starts[3] = 8), "`starts` ends at 8, there are 9 elements: it must end at their number");
    assert_eq!(
        refusal(|i| i.matrix.starts.clear()),
        "`starts` is empty: it has one element more than there are rows, so [0] is the matrix without rows"
    );
    assert_eq!(refusal(|i| i.matrix.columns[4] = 3), "row 1 has an element in column 3: there are 3 columns");
    assert_eq!(refusal(|i| i.matrix.values[4] = 0.0), "row 1 has elements, but 0 on the diagonal: a step of Jacobi divides by it");
    assert_eq!(refusal(|i| i.matrix.values.truncate(8)), "`columns` has 9 elements, `values` has 8: make them as long as each other");
    assert_eq!(refusal(|i| i.b.push(0.0)), "`b` has 4 elements, the matrix has 3 rows: make them as many");
    assert_eq!(refusal(|i| i.x.clear()), "`x` has 0 elements, the matrix has 3 rows: make them as many");
}

#[test]
fn what_is_not_finite_is_refused() {
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        // Element 3 is beside the diagonal, element 4 on it.
        assert_eq!(refusal(|i| i.matrix.values[3] = wrong), format!("row 1 has {wrong} in column 0: it must be finite"));
        assert_eq!(refusal(|i| i.matrix.values[4] = wrong), format!("row 1 has {wrong} in column 1: it must be finite"));
        assert_eq!(refusal(|i| i.b[2] = wrong), format!("`b` of row 2 is {wrong}: it must be finite"));
        let omega = format!("`omega` is {wrong}: it must be finite, and steps lead to a solution where it is below 2/3");
        assert_eq!(refusal(|i| i.omega = wrong), omega);
    }
}

#[test]
fn diagonals_without_an_inverse_are_refused() {
    for (wrong, text) in [(2e-39, "2e-39"), (-1e-45, "-1e-45"), (f32::MAX, "3.4028235e38"), (1e38, "1e38")] {
        let expected = format!(
            "row 1 has {text} on the diagonal, by which a step of Jacobi divides: its magnitude must be within 2.938736e-39 and 8.507059e37"
        );
        assert_eq!(refusal(|i| i.matrix.values[4] = wrong), expected);
    }
    // An element that stands there twice counts as the sum.
    let twice = refusal(|i| (i.matrix.columns[3], i.matrix.values[3], i.matrix.values[4]) = (1, f32::MAX, f32::MAX));
    assert!(twice.starts_with("row 1 has inf on the diagonal"), "{twice}");
    let taken = |value: f32| {
        let mut input = of_mesh(&triangle());
        input.matrix.values[4] = value;
        Resident::new(&Device::simulator(), &input).is_ok()
    };
    assert!(taken(3e-39) && taken(8e37) && taken(-8e37));
}
