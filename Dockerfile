# Headlight for a class: the app and nothing else, as a user who may write to its home and /site only.
#
#   docker build -t headlight --build-arg TORCH_INDEX=URL .
#   docker run -p 127.0.0.1:8501:8501 -e HEADLIGHT_HOSTS=headlight.example.org headlight
#
# URL is the package index with the CPU build of torch, as the start page of PyTorch names it (choose "CPU"); without it
# the plain torch comes, with several gigabytes for GPUs.
FROM python:3.11-slim

ARG TORCH_INDEX=""

WORKDIR /headlight
COPY requirements.txt ./
RUN pip install --no-cache-dir --disable-pip-version-check \
    ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -r requirements.txt

COPY app.py LICENSE ./
COPY .streamlit .streamlit
COPY model model
COPY viz viz
COPY checkpoints checkpoints
# The user of the image may write no compiled files, and every start would compile these again.
RUN python -m compileall -q app.py model viz

# /site is where the volume of compose.yaml stands, for the page without a server.
RUN useradd --create-home headlight && mkdir /site && chown headlight /site
USER headlight

EXPOSE 8501
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=5)"]
# Inside a container every address is the container's own: who may come is for -p and the proxy to say. Without the last
# option Streamlit would ask a host on the internet for its address, to print it.
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--browser.serverAddress", "localhost"]
