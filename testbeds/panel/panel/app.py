"""The panel's routes: `uvicorn --factory panel.app:create`."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import OAuth2PasswordRequestForm
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import JSONResponse, Response

from .schemas import Changes, NewUser, Page
from .service import Service
from .settings import Settings
from .tokens import bearer


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Panel = Annotated[Service, Depends(_service)]


async def _authenticated(panel: Panel, token: Annotated[str, Depends(bearer)]) -> None:
    panel.tokens.check(token)


open_to_all = APIRouter()
api = APIRouter(prefix="/api", dependencies=[Depends(_authenticated)])


def create() -> FastAPI:
    """Raises KeyError and ValueError like Settings.from_environment()."""
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    settings = Settings.from_environment()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = await Service.start(settings)
        yield
        await app.state.service.stop()

    app = FastAPI(title="Reference panel", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.include_router(open_to_all)
    app.include_router(api)
    return app


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Errors in Marzban's form: field → message."""
    assert isinstance(error, RequestValidationError)
    detail = {str(problem["loc"][-1]): problem["msg"] for problem in error.errors()}
    return JSONResponse({"detail": detail}, 422)


@open_to_all.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}


@open_to_all.get("/metrics")
async def metrics(panel: Panel) -> Response:
    if not panel.settings.prometheus:
        return JSONResponse({"detail": "Not Found"}, 404)
    return Response(panel.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@open_to_all.post("/api/admin/token")
async def log_in(panel: Panel, form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> dict[str, str]:
    return {"access_token": panel.tokens.issue(form.username, form.password), "token_type": "bearer"}


@open_to_all.get("/sub/{token}")
async def get_subscription(panel: Panel, token: str, user_agent: Annotated[str, Header()] = "") -> Response:
    return await panel.subscription(token, user_agent)


@api.post("/user")
async def create_user(panel: Panel, new: NewUser) -> JSONResponse:
    return await panel.answer("create_user", lambda work: panel.users.create(work, new))


@api.get("/user/{username}")
async def get_user(panel: Panel, username: str) -> JSONResponse:
    return await panel.answer("get_user", lambda work: panel.users.get(work, username))


@api.put("/user/{username}")
async def modify_user(panel: Panel, username: str, changes: Changes) -> JSONResponse:
    return await panel.answer("modify_user", lambda work: panel.users.modify(work, username, changes))


@api.delete("/user/{username}")
async def delete_user(panel: Panel, username: str) -> JSONResponse:
    return await panel.answer("delete_user", lambda work: panel.users.delete(work, username))


@api.get("/users")
async def get_users(panel: Panel, wanted: Annotated[Page, Query()]) -> JSONResponse:
    return await panel.answer("get_users", lambda work: panel.users.page(work, wanted))


@api.get("/system")
async def get_system(panel: Panel) -> JSONResponse:
    return await panel.answer("get_system", panel.users.count)


@api.get("/core")
async def get_core(panel: Panel) -> JSONResponse:
    return await panel.answer("get_core", panel.core)


@api.post("/core/restart")
async def restart_core(panel: Panel) -> JSONResponse:
    return await panel.restart()


@api.get("/inbounds")
async def get_inbounds(panel: Panel) -> JSONResponse:
    return await panel.answer("get_inbounds", panel.inbounds)
