"""Which of the library's classes plays a provider. Only the one asked for is imported: each brings a large SDK."""

from typing import Any

from pydantic_ai.models import Model

from infra.library_models.apis import is_own_server


def model_of(provider: str, name: str, client: Any) -> Model[Any]:
    """The library's model, over this client. Cheap to make: everything kept is the client's."""
    if provider == "anthropic":
        return _anthropic(name, client)
    return _openai(name, client, own_server=is_own_server(provider))


def _anthropic(name: str, client: Any) -> Model[Any]:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _openai(name: str, client: Any, *, own_server: bool) -> Model[Any]:
    """A stream that ends without saying why was cut off. Only OpenAI knows the newer name of the output limit."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    if not own_server:
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client), profile=profile)
    profile["openai_chat_supports_max_completion_tokens"] = False
    provider = OpenAICompatibleProvider("openai-compatible", openai_client=client)
    return OpenAIChatModel(name, provider=provider, profile=profile)
