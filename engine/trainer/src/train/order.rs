//! Order of a network's neurons by how often they are active.
//!
//! The engine leaves out groups of four inputs of the second layer that are all zero. If neurons
//! that are seldom active stand together, more groups are. The order changes no evaluation.

use super::export::{self, ExportError};
use super::integer::Integer;
use super::network::{Parameters, Shape};
use bulletformat::ChessBoard;
use destrier::nnue::{Activation, Kind, PAIR_DISTANCE};

/// Returns the weights with the neurons sorted by how often their input of the second layer is not
/// zero in positions, the most active first. Pairs stay together. A SCReLU network, which has no
/// second layer, stays as it is.
///
/// # Errors
/// [`ExportError::Overflow`] if a weight is outside the range of its integer type.
pub fn by_activity(shape: &Shape, weights: Parameters, positions: &[ChessBoard]) -> Result<Parameters, ExportError> {
    if shape.kind == Kind::Screlu {
        return Ok(weights);
    }
    let network = Integer::new(shape, &export::payload(shape, &weights)?);
    let mut counts = vec![0_u32; shape.kind.second_inputs(shape.hidden) / 2];
    for board in positions {
        for side in network.sides(board) {
            let inputs = network.second_inputs(&side);
            counts.iter_mut().zip(inputs).for_each(|(count, input)| *count += u32::from(input > 0));
        }
    }
    let mut inputs: Vec<usize> = (0..counts.len()).collect();
    inputs.sort_by_key(|&input| std::cmp::Reverse(counts[input]));
    Ok(reordered(shape, weights, &inputs))
}

/// Returns the weights with the inputs that the second layer has of a side in this order.
fn reordered(shape: &Shape, weights: Parameters, inputs: &[usize]) -> Parameters {
    let hidden = shape.hidden;
    let neurons = if shape.kind.activation() == Activation::Products {
        // Blocks of two halves: the neurons of the products, or a row's weights of both sides.
        let in_blocks = |input: usize| input / PAIR_DISTANCE * 2 * PAIR_DISTANCE + input % PAIR_DISTANCE;
        let mut neurons = vec![0; hidden];
        for (to, &from) in inputs.iter().enumerate() {
            for half in [0, PAIR_DISTANCE] {
                neurons[in_blocks(to) + half] = in_blocks(from) + half;
            }
        }
        neurons
    } else {
        inputs.to_vec()
    };
    let moved = |values: &[f32]| -> Vec<f32> {
        values.chunks_exact(hidden).flat_map(|row| neurons.iter().map(|&neuron| row[neuron])).collect()
    };
    Parameters {
        features: moved(&weights.features),
        factor: moved(&weights.factor),
        bias: moved(&weights.bias),
        output: moved(&weights.output),
        head: weights.head,
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::Inputs;
    use super::super::foreign::sample;
    use super::*;

    /// Weights whose neurons differ in how often they are active.
    fn weights(shape: &Shape) -> Parameters {
        let mut weights = Parameters::random(shape, 3);
        weights.groups_mut().into_iter().flatten().for_each(|weight| *weight = weight.clamp(-1.0, 1.0));
        for (neuron, bias) in weights.bias.iter_mut().enumerate() {
            *bias = if neuron * 7 % 5 == 0 { 0.3 } else { -0.4 };
        }
        weights
    }

    #[test]
    fn the_order_changes_no_evaluation_and_leaves_out_more() {
        let positions = sample();
        for kind in Kind::ALL {
            let hidden = 2 * kind.hidden_step();
            let inputs = Inputs::of_set("piece".parse().expect("a set"));
            let shape = Shape { kind, hidden, inputs, output_buckets: 8, factorised: false };
            let network = |weights: &Parameters| {
                let payload = export::payload(&shape, weights).expect("weights in range");
                Integer::new(&shape, &payload)
            };
            let groups = |network: &Integer| -> usize {
                let sides = positions.iter().flat_map(|board| network.sides(board));
                let inputs: Vec<i64> = sides.flat_map(|side| network.second_inputs(&side)).collect();
                inputs.chunks_exact(4).filter(|group| group.iter().any(|&input| input > 0)).count()
            };
            let before = network(&weights(&shape));
            let after = network(&by_activity(&shape, weights(&shape), &positions).expect("weights in range"));
            for board in &positions {
                assert_eq!(after.evaluate(board), before.evaluate(board), "{kind:?}");
            }
            let (many, fewer) = (groups(&before), groups(&after));
            assert!(kind == Kind::Screlu && many == fewer || fewer < many * 9 / 10, "{kind:?}: {many}, then {fewer}");
        }
    }
}
