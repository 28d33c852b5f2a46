//! Logistic function, which maps a value to an expected result, and its loss.

/// Returns `1 / (1 + e^-x)`.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns the logistic loss of one prediction.
#[must_use]
pub fn logistic(promised: f32, target: f32) -> f32 {
    let promised = promised.clamp(1e-6, 1.0 - 1e-6);
    -(target * promised.ln() + (1.0 - target) * (1.0 - promised).ln())
}
