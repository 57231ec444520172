#!/bin/bash
# The settings of the same page's launch script.
export NEURON_RT_NUM_CORES=32
export NEURON_CC_FLAGS="--model-type transformer"
torchrun \
  --nproc_per_node=16 \
  --nnodes=16 \
  --node_rank=$SLURM_NODEID \
  train.py \
  --batch_size 8 \
  --gradient_accumulation_steps 4 \
  --learning_rate 1e-4 \
  --max_steps 100000 \
  --bf16 \
  --tensor_parallel_size 8
