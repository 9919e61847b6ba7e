"""What the shop says."""

from fastapi.responses import JSONResponse


def accepted(order_id: int, state: str) -> JSONResponse:
    return JSONResponse({"order_id": str(order_id), "state": state})


def refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"reason": reason}, status_code=status)
