//! Loss of the logistic function, which maps a value to an expected result.

/// Returns the logistic loss of one prediction.
#[must_use]
pub fn logistic(promised: f32, target: f32) -> f32 {
    let promised = promised.clamp(1e-6, 1.0 - 1e-6);
    -(target * promised.ln() + (1.0 - target) * (1.0 - promised).ln())
}
