"""What a shell command is about, as agents write them."""

from __future__ import annotations

import time

import pytest

from lamina.live.commands import MOST, file_names, patched, subjects

PATCH = """*** Begin Patch
*** Update File: src/upload.py
@@ def send():
-    old
+*** Add File: no/file.py
*** Add File: docs/a new page.md
+text
*** Delete File: /p/old.py
*** End Patch"""

ABOUT = {
    "pytest -q": ["pytest"],
    "cd /repo && pytest -q": ["pytest"],
    "cd web && npm run build": ["npm run build"],
    "cd web; npm test": ["npm test"],
    "FOO=1 make deploy": ["make deploy"],
    "PYTHONPATH=src python tools/x.py": ["tools/x.py"],
    "sudo -u postgres psql -c 'select 1'": ["psql"],
    "sudo systemctl restart nginx": ["systemctl restart"],
    "timeout 60 make test": ["make test"],
    "timeout -k 5 --signal KILL 60 cargo test": ["cargo test"],
    "./scripts/deploy.sh prod": ["scripts/deploy.sh"],
    "/p/scripts/deploy.sh": ["scripts/deploy.sh"],
    "bash scripts/deploy.sh": ["scripts/deploy.sh"],
    "/usr/bin/psql -l": ["psql"],
    ".venv/bin/pytest -x": ["pytest"],
    "node_modules/.bin/jest --watch": ["jest"],
    "python -m pytest tests": ["pytest"],
    "python3.11 -X dev -m pip install x": ["pip install"],
    "uv run pytest": ["pytest"],
    "uv run --with x python -m alembic upgrade head": ["alembic"],
    "uv sync": ["uv sync"],
    "poetry run alembic upgrade head": ["alembic"],
    "npx --yes -p playwright playwright test": ["playwright"],
    "npx prisma migrate dev": ["prisma"],
    "env -u HOME A=1 B='x y' terraform apply": ["terraform apply"],
    "nice -n 10 time -f %e ninja -C out all": ["ninja all"],
    "git -C /repo -c user.name=x push origin main": ["git push"],
    "git add -A && git commit -m 'fix; rm -rf && make'": ["git add", "git commit"],
    'git commit -m "first\n\nmake deploy"': ["git commit"],
    "docker compose -f a.yml up -d": ["docker compose"],
    "kubectl -n prod apply -f x.yaml": ["kubectl apply"],
    "cargo +nightly bench": ["cargo bench"],
    "make -C web -j4 lint test": ["make lint", "make test"],
    "make": [],
    "git ls-files | xargs -n 1 -P 4 ruff check": ["git ls-files", "ruff"],
    "pytest -q 2>&1 | tail -20": ["pytest"],
    "pytest > out.log 2>/dev/null": ["out.log", "pytest"],
    "cat src/upload.py | head -5": ["src/upload.py"],
    "sed -i 's/a/b.c/' src/upload.py": ["src/upload.py"],
    "cat > src/new.py <<'EOF'\nmake deploy\nEOF\nruff check": ["src/new.py", "ruff"],
    "python - <<EOF\nimport os\nEOF": [],
    "python -c 'import os; os.system(1)'": [],
    "bash -lc 'cd /repo && pytest -q'": ["pytest"],
    "bash -lc cd /repo && pytest -q": ["pytest"],
    'sh -c "timeout 5 make deploy"': ["make deploy"],
    "for f in a b; do alembic $f; done": ["alembic"],
    "if ! flake8; then echo bad; fi": ["flake8"],
    "V=$(git rev-parse HEAD) make deploy": ["git rev-parse", "make deploy"],
    "make \\\n  deploy": ["make deploy"],
    "make lint\nmake deploy\r\n": ["make lint", "make deploy"],
    "make 'deploy": ["make deploy"],
    'alembic "upgrade && pytest': ["alembic", "pytest"],
    "# make deploy": [],
    "ls -la": [],
    "echo 'make deploy'": [],
    "grep '|' src/upload.py": ["src/upload.py"],
    ".\\scripts\\deploy.ps1 -Force": ["scripts/deploy.ps1"],
    "C:\\Python\\python.exe -m pytest": ["pytest"],
    "cd 网站 && ./部署.sh": ["部署.sh"],
    "curl -s https://example.org/a.json | jq .": ["curl"],
    "": [],
    "&& || ;": [],
    "sudo": [],
    "timeout": [],
    "python -m": [],
    PATCH: ["src/upload.py", "docs/a new page.md", "old.py"],
    f"apply_patch <<'EOF'\n{PATCH}\nEOF": ["src/upload.py", "docs/a new page.md", "old.py"],
}  # fmt: skip


@pytest.mark.parametrize(("command", "about"), ABOUT.items())
def test_a_command_is_about_its_programs_and_files(command: str, about: list[str]) -> None:
    assert [names[0] for names in subjects(command, "/p")] == about


def test_a_script_is_known_by_its_path_and_its_name() -> None:
    assert subjects("./scripts/deploy.sh prod") == (("scripts/deploy.sh", "deploy.sh"),)


@pytest.mark.parametrize(
    ("path", "cwd", "names"),
    [
        ("/p/src/a.py", "/p", ("src/a.py", "a.py")),
        ("/p/src/../b.py", "/p", ("b.py",)),
        ("/pq/src/a.py", "/p", ("a.py",)),
        ("../x/a.py", "/p", ("a.py",)),
        ("C:\\p\\src\\a.py", "C:\\p", ("src/a.py", "a.py")),
        ("D:\\q\\a.py", "C:\\p", ("a.py",)),
        ("/", "/p", ()),
        ("..", "/p", ()),
    ],
)
def test_a_file_is_called_by_its_path_in_the_project(path: str, cwd: str, names: tuple[str, ...]) -> None:
    assert file_names(path, cwd) == names


def test_half_a_path_of_a_patch_that_was_cut_is_no_file() -> None:
    assert patched(PATCH[: PATCH.index("a new page") + 3]) == ("src/upload.py",)


@pytest.mark.parametrize("part", ['"', "'", "\\", '"\\', "$(", "<<A\n", "a=", "sudo ", "bash -c ", "a;", "> ", "*** Update File: x\n"])  # fmt: skip
def test_no_text_takes_long_or_gives_many(part: str) -> None:
    began = time.process_time()
    assert len(subjects((part * 4_096)[:4_096])) <= MOST
    assert time.process_time() - began < 1
