//! Linear programs: which non-negative weights make a weighted sum large, while other sums of the same weights stay within
//! limits (Dantzig's simplex method, in two phases, with a dense table). Arithmetic is that of floating-point numbers:
//! whoever uses the weights has to check them.

/// A sum of the weights, `coefficients . weights`, and its limit.
#[derive(Clone, Debug)]
pub(super) struct LimitedSum {
    /// By the number of the weight; missing ones are zero.
    pub(super) coefficients: Vec<(usize, f64)>,
    pub(super) limit: f64,
    /// Whether the sum has to be equal to its limit, and not at most that.
    pub(super) is_exact: bool,
}

/// Numbers nearer to zero than this count as zero.
const NEAR_ZERO: f64 = 1e-9;
/// After so many pivots, the first column that improves the sum enters the basis, so that no basis is met twice (Bland).
const MOST_GREEDY: u32 = 100;

/// The simplex method's table. Columns: the weights, then what each sum is below its limit.
pub(super) struct Table {
    rows: Vec<Vec<f64>>,
    /// The value of the variable that each row is solved for.
    values: Vec<f64>,
    /// The column that each row is solved for; one behind the last stands for what the sum lacks to its limit.
    basis: Vec<usize>,
    weights: usize,
    columns: usize,
    /// How many pivots were made, and how many can be made.
    pivots: u32,
    most: u32,
}

impl Table {
    /// Returns the table of sums over so many weights. `most`: how many pivots can be made.
    pub(super) fn new(weights: usize, sums: &[LimitedSum], most: u32) -> Self {
        let columns = weights + sums.len();
        let mut table = Self {
            rows: Vec::new(),
            values: Vec::new(),
            basis: Vec::new(),
            weights,
            columns,
            pivots: 0,
            most,
        };
        for (at, sum) in sums.iter().enumerate() {
            let mut row = vec![0.0; columns];
            for (weight, coefficient) in &sum.coefficients {
                row[*weight] = *coefficient;
            }
            if !sum.is_exact {
                row[weights + at] = 1.0;
            }
            let is_solved = !sum.is_exact && sum.limit >= 0.0;
            if sum.limit < 0.0 {
                for entry in &mut row {
                    *entry = -*entry;
                }
            }
            table.rows.push(row);
            table.values.push(sum.limit.abs());
            table.basis.push(if is_solved { weights + at } else { columns });
        }
        table
    }

    /// Returns how many pivots were made.
    pub(super) fn pivots(&self) -> u32 {
        self.pivots
    }

    /// Finds weights with which all sums keep their limits and `gains . weights` is at least `target`; `None` if there are
    /// none, or if they are not found in time.
    pub(super) fn weights(&mut self, gains: &[f64], target: f64) -> Option<Vec<f64>> {
        self.keep_limits()?;
        let mut costs: Vec<f64> = gains.iter().map(|gain| -gain).collect();
        costs.resize(self.columns, 0.0);
        let mut gained = 0.0;
        for (row, column) in self.basis.clone().into_iter().enumerate() {
            if column < self.columns {
                gained += eliminate(&mut costs, column, &self.rows[row], self.values[row]);
            }
        }
        while gained < target {
            let entering = self.entering(&costs)?;
            let Some(leaving) = self.leaving(entering) else {
                let steps = (target - gained) / -costs[entering];
                return Some(self.along(entering, steps.max(0.0).ceil() + 1.0));
            };
            self.pivot(leaving, entering)?;
            gained += eliminate(&mut costs, entering, &self.rows[leaving], self.values[leaving]);
        }
        Some(self.current())
    }

    /// Makes all sums keep their limits.
    fn keep_limits(&mut self) -> Option<()> {
        let mut costs = vec![0.0; self.columns];
        let mut lacking = 0.0;
        for (row, column) in self.basis.iter().enumerate() {
            if *column == self.columns {
                costs.iter_mut().zip(&self.rows[row]).for_each(|(cost, entry)| *cost -= entry);
                lacking += self.values[row];
            }
        }
        while lacking > NEAR_ZERO {
            let entering = self.entering(&costs)?;
            let leaving = self.leaving(entering)?;
            self.pivot(leaving, entering)?;
            lacking -= eliminate(&mut costs, entering, &self.rows[leaving], self.values[leaving]);
        }
        // What is left of a sum without weights is zero: it must not grow again.
        for row in 0..self.rows.len() {
            if self.basis[row] == self.columns {
                let entry = |column: &usize| self.rows[row][*column].abs();
                let largest = (0..self.columns).max_by(|a, b| entry(a).total_cmp(&entry(b)))?;
                if entry(&largest) > NEAR_ZERO {
                    self.pivot(row, largest)?;
                }
            }
        }
        Some(())
    }

    /// The column that enters the basis: one whose growth lowers the costs.
    fn entering(&self, costs: &[f64]) -> Option<usize> {
        let mut candidates = (0..self.columns).filter(|column| costs[*column] < -NEAR_ZERO);
        if self.pivots > MOST_GREEDY {
            return candidates.next();
        }
        candidates.min_by(|a, b| costs[*a].total_cmp(&costs[*b]))
    }

    /// The row whose variable is the first to become zero if a column grows; `None` if none does.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let falls = (0..self.rows.len()).filter(|row| self.rows[*row][entering] > NEAR_ZERO);
        let room = |row: usize| self.values[row] / self.rows[row][entering];
        falls.min_by(|a, b| room(*a).total_cmp(&room(*b)).then(self.basis[*b].cmp(&self.basis[*a])))
    }

    /// Solves a row for a column instead of its present one.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        if self.pivots >= self.most {
            return None;
        }
        self.pivots += 1;
        let by = self.rows[row][column];
        self.rows[row].iter_mut().for_each(|entry| *entry /= by);
        self.values[row] /= by;
        self.basis[row] = column;
        let (solved, value) = (std::mem::take(&mut self.rows[row]), self.values[row]);
        for other in (0..self.rows.len()).filter(|other| *other != row) {
            let change = eliminate(&mut self.rows[other], column, &solved, value);
            self.values[other] += change;
        }
        self.rows[row] = solved;
        Some(())
    }

    /// The present weights.
    fn current(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.weights];
        for (column, value) in self.basis.iter().zip(&self.values) {
            if *column < self.weights {
                weights[*column] = *value;
            }
        }
        weights
    }

    /// The weights if a column that no limit keeps from growing grows by so much.
    fn along(&self, column: usize, by: f64) -> Vec<f64> {
        let mut weights = self.current();
        for (row, own) in self.basis.iter().enumerate() {
            if *own < self.weights {
                weights[*own] -= self.rows[row][column] * by;
            }
        }
        if column < self.weights {
            weights[column] += by;
        }
        weights
    }
}

/// Subtracts a multiple of a solved row, so that the entry of a column becomes zero. Returns the change of the row's value.
fn eliminate(entries: &mut [f64], column: usize, solved: &[f64], value: f64) -> f64 {
    let factor = entries[column];
    if factor == 0.0 {
        return 0.0;
    }
    for (entry, own) in entries.iter_mut().zip(solved) {
        *entry -= factor * own;
    }
    entries[column] = 0.0;
    -factor * value
}
