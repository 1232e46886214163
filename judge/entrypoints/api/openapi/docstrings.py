"""The docstrings of a class and of its attributes, as descriptions in its schema."""

import ast
import inspect
from itertools import pairwise
from typing import Any, cast

from litestar.openapi.spec import Reference, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.typing import FieldDefinition
from pydantic import BaseModel


class DocstringSchemaPlugin(OpenAPISchemaPlugin):
    """Adds descriptions and "no other fields" to the schemas that the other plugins derive.

    Litestar reads neither docstrings nor pydantic's `extra="forbid"`.
    """

    @staticmethod
    def is_plugin_supported_field(field_definition: FieldDefinition) -> bool:
        """Whether this is a class with fields of our own."""
        return (
            field_definition.is_dataclass_type
            or field_definition.is_typeddict_type
            or field_definition.is_subclass_of(BaseModel)
        )

    def to_openapi_schema(self, field_definition: FieldDefinition, schema_creator: Any) -> Schema:
        """The schema of a class; it goes into the components."""
        plugin = next(
            other
            for other in schema_creator.plugins
            if other is not self and schema_creator.plugin_supports_field(other, field_definition)
        )
        schema: Schema = plugin.to_openapi_schema(field_definition, schema_creator)
        described = field_definition.type_
        schema.description = inspect.cleandoc(described.__doc__ or "") or None
        for name, text in attribute_docstrings(described).items():
            field = (schema.properties or {}).get(name)
            if isinstance(field, Schema | Reference):
                field.description = text
        if getattr(described, "model_config", {}).get("extra") == "forbid":
            schema.additional_properties = False
        return schema


def attribute_docstrings(described: type) -> dict[str, str]:
    """The docstrings of the annotated attributes of *described*, by name."""
    texts: dict[str, str] = {}
    (definition,) = ast.parse(inspect.getsource(described)).body
    for pair in pairwise(cast("ast.ClassDef", definition).body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                texts[name] = " ".join(text.split())
    return texts
