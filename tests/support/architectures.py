"""Tiny models of transformers with random weights, one for each architecture that readers are tested on."""

from __future__ import annotations

from typing import Any

import torch

VOCABULARY = 99
SHARED = {"vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LLAMA = {
    **SHARED,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = LLAMA | {"num_key_value_heads": 2}
GEMMA = GROUPED | {"head_dim": 8}
SLIDING = {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "sliding_window": 3}
BART = {
    **SHARED,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "decoder_start_token_id": 2,
}
GPT2 = {**SHARED, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}
EXPERTS = {"num_local_experts": 3, "num_experts_per_tok": 2}
T5 = {**SHARED, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4}
DEEPSEEK = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "n_routed_experts": 4,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
}
JAMBA = {
    "attn_layer_period": 2,
    "attn_layer_offset": 1,
    "expert_layer_period": 2,
    "num_experts": 2,
    "use_mamba_kernels": False,
    "mamba_dt_rank": 4,
    "mamba_d_state": 4,
}
QWEN3_NEXT = {
    "head_dim": 8,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "num_experts": 2,
    "num_experts_per_tok": 1,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
}
ALBERT = LLAMA | {"embedding_size": 16}
DISTILBERT = {**SHARED, "dim": 32, "hidden_dim": 48, "n_layers": 3, "n_heads": 4, "max_position_embeddings": 64}
WHISPER = BART | {"num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 64, "bos_token_id": 2}
VIT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "image_size": 12,
    "patch_size": 4,
}

# By the name in transformers' configurations, the name of the class and the sizes.
DECODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", GPT2),
    "llama": ("LlamaForCausalLM", GROUPED),
    "qwen2": ("Qwen2ForCausalLM", GROUPED),
    "qwen3": ("Qwen3ForCausalLM", GEMMA),
    "mistral": ("MistralForCausalLM", GROUPED | {"sliding_window": 3}),
    "gemma": ("GemmaForCausalLM", GEMMA),
    "gemma2": ("Gemma2ForCausalLM", GEMMA | SLIDING),
    "gemma3_text": ("Gemma3ForCausalLM", GEMMA | SLIDING),
    "gpt_neox": ("GPTNeoXForCausalLM", LLAMA),
    "phi": ("PhiForCausalLM", LLAMA),
    "phi3": ("Phi3ForCausalLM", GROUPED),
    "olmo2": ("Olmo2ForCausalLM", GROUPED),
    "gpt_oss": ("GptOssForCausalLM", GEMMA | SLIDING | EXPERTS),
    "smollm3": ("SmolLM3ForCausalLM", GROUPED),
    "starcoder2": ("Starcoder2ForCausalLM", GROUPED),
    "stablelm": ("StableLmForCausalLM", GROUPED),
    "opt": ("OPTForCausalLM", LLAMA | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "mixtral": ("MixtralForCausalLM", GROUPED | EXPERTS),
    "deepseek_v3": ("DeepseekV3ForCausalLM", LLAMA | DEEPSEEK),
    "jamba": ("JambaForCausalLM", GROUPED | JAMBA | {"num_hidden_layers": 4}),
    "qwen3_next": ("Qwen3NextForCausalLM", GROUPED | QWEN3_NEXT),
}
ENCODERS = {
    "bert": ("BertForMaskedLM", LLAMA),
    "roberta": ("RobertaForMaskedLM", LLAMA),
    "xlm-roberta": ("XLMRobertaForMaskedLM", LLAMA),
    "distilbert": ("DistilBertForMaskedLM", DISTILBERT),
    "electra": ("ElectraForMaskedLM", LLAMA | {"embedding_size": 16}),
    "modernbert": ("ModernBertForMaskedLM", LLAMA | {"local_attention": 4, "global_attn_every_n_layers": 2}),
    "albert": ("AlbertForMaskedLM", ALBERT),
}
PAIRS = {
    "t5": ("T5ForConditionalGeneration", T5 | {"decoder_start_token_id": 0}),
    "bart": ("BartForConditionalGeneration", BART),
    "mbart": ("MBartForConditionalGeneration", BART),
    "marian": ("MarianMTModel", BART),
    "m2m_100": ("M2M100ForConditionalGeneration", BART),
    "pegasus": ("PegasusForConditionalGeneration", BART),
}
OTHERS = {
    "whisper": ("WhisperForConditionalGeneration", WHISPER),
    "vit": ("ViTForImageClassification", VIT),
}
ON_THE_INTERFACE = DECODERS | ENCODERS | PAIRS | OTHERS
READ_ONLY = {
    "falcon": ("FalconForCausalLM", LLAMA),
    "bloom": ("BloomForCausalLM", {**SHARED, "hidden_size": 32, "n_layer": 3, "n_head": 4}),
    "deberta-v2": ("DebertaV2ForMaskedLM", LLAMA),
    "gptj": ("GPTJForCausalLM", GPT2 | {"rotary_dim": 4}),
    "gpt_neo": (
        "GPTNeoForCausalLM",
        {**SHARED, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "window_size": 3, "max_position_embeddings": 64}
        | {"attention_types": [[["global", "local"], 1]]},
    ),
    "xlnet": ("XLNetLMHeadModel", {**SHARED, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
}
LONGFORMER = LLAMA | {"attention_window": [4, 4, 8]}
LED = BART | {"attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64}


class Numbers:
    """A tokenizer whose words are the ids."""

    mask_token_id, mask_token = 4, "4"

    def __call__(self, text: str = "", *, text_target: str = "", return_tensors: str = "", **options: Any) -> dict:
        ids = list(map(int, (text or text_target).split()))
        return {"input_ids": torch.tensor([ids]) if return_tensors else ids}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return list(map(str, ids))

    def decode(self, ids: list[int], **options: Any) -> str:
        return " ".join(map(str, ids))


def build(name: str, implementation: str | None = None, **sizes: Any) -> Any:
    """A tiny model, the same weights each time, all of them at random so that no bias or norm is trivial."""
    return build_as((ON_THE_INTERFACE | READ_ONLY)[name][0], name, implementation, **sizes)


def build_as(kind: str, name: str, implementation: str | None = None, **sizes: Any) -> Any:
    """The same with another class of transformers, with another head or none."""
    import transformers

    network = getattr(transformers, kind)
    values = (ON_THE_INTERFACE | READ_ONLY)[name][1] | sizes
    torch.manual_seed(1)
    model = network(network.config_class(**values, attn_implementation=implementation)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def inputs_of(name: str, tokens: int = 7) -> dict[str, torch.Tensor]:
    """What a tiny model reads: tensors, a batch of one."""
    generator = torch.Generator().manual_seed(2)

    def ids(count: int) -> torch.Tensor:
        return torch.randint(5, VOCABULARY, (1, count), generator=generator)

    if name == "vit":
        return {"pixel_values": torch.randn(1, 3, 12, 12, generator=generator)}
    if name == "whisper":
        return {"input_features": torch.randn(1, 8, 20, generator=generator), "decoder_input_ids": ids(5)}
    if name in PAIRS:
        return {"input_ids": ids(tokens), "decoder_input_ids": ids(5)}
    return {"input_ids": ids(tokens)}
