//! The logistic curve, which makes a promise of a value, and its loss.

/// `1 / (1 + e^-x)`.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The logistic loss of one promise.
#[must_use]
pub fn logistic(promised: f32, target: f32) -> f32 {
    let promised = promised.clamp(1e-6, 1.0 - 1e-6);
    -(target * promised.ln() + (1.0 - target) * (1.0 - promised).ln())
}
