from ._routes import add_pages as add_pages
