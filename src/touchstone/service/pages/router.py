"""All pages as one router."""

from fastapi import APIRouter

from touchstone.service.pages import (
    assets,
    case,
    compare,
    login,
    overview,
    playground,
    queues,
    review,
    rubrics,
    runs,
    upload,
    users,
    weekly,
)

router = APIRouter(include_in_schema=False)
for each in (assets, overview, runs, case, compare, review, upload, queues, weekly, playground, rubrics, login, users):
    router.include_router(each.router)
